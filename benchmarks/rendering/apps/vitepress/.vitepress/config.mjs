import laws from "../laws.json";

export default {
  title: "法规手册",
  lang: "zh-CN",
  cleanUrls: true,
  themeConfig: { sidebar: laws.map(({ slug, title }) => ({ text: title, link: `/${slug}` })) },
};
