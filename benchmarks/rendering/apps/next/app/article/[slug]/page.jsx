import { articles } from "../../content.js";

export const dynamicParams = false;

export const generateStaticParams = () => articles.map(({ slug }) => ({ slug }));

const find = async (params) => {
  const { slug } = await params;
  return articles.find((each) => each.slug === slug);
};

export const generateMetadata = async ({ params }) => ({ title: (await find(params)).title });

export default async function Article({ params }) {
  const article = await find(params);
  return (
    <article>
      <h1>{article.title}</h1>
      {article.paragraphs.map((text, place) => <p key={place}>{text}</p>)}
    </article>
  );
}
