import Link from "next/link";
import { names } from "./content.js";

export default function Home() {
  return <ul>{names.map((name) => <li key={name}><Link href={`/section/${name}/1/`}>{name}</Link></li>)}</ul>;
}
