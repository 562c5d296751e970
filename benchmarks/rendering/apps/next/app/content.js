import articles from "./articles.json";

export const PAGE = 25;

export { articles };

export const names = [...new Set(articles.map((each) => each.section))];

export const inSection = (name) => articles.filter((each) => each.section === name);
