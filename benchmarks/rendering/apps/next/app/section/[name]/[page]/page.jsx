import Link from "next/link";
import { PAGE, inSection, names } from "../../../content.js";

export const dynamicParams = false;

export const generateStaticParams = () => names.flatMap((name) =>
  Array.from({ length: Math.ceil(inSection(name).length / PAGE) }, (_, i) => ({ name, page: `${i + 1}` })));

export default async function Section({ params }) {
  const { name, page } = await params;
  const all = inSection(name);
  return (
    <>
      <h1>{name}, page {page}</h1>
      <ul>{all.slice((page - 1) * PAGE, page * PAGE).map((each) => (
        <li key={each.slug}><Link href={`/article/${each.slug}/`}>{each.title}</Link></li>
      ))}</ul>
      {all.length > page * PAGE && <Link href={`/section/${name}/${+page + 1}/`}>Older articles</Link>}
    </>
  );
}
