import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter, Link, Route, Routes, useLocation, useParams } from "react-router-dom";

function useJson(path) {
  const [value, setValue] = useState(null);
  useEffect(() => {
    setValue(null);
    fetch(path).then((answer) => answer.json()).then(setValue);
  }, [path]);
  return value;
}

function Home() {
  const sections = useJson("/api/sections.json");
  useEffect(() => { document.title = "The Daily Record"; });
  if (!sections) return <p>Loading…</p>;
  return (
    <ul>{sections.map((name) => <li key={name}><Link to={`/section/${name}/1`}>{name}</Link></li>)}</ul>
  );
}

function Section() {
  const { name, page } = useParams();
  const list = useJson(`/api/section/${name}/${page}.json`);
  useEffect(() => { document.title = `${name}, page ${page}`; });
  if (!list) return <p>Loading…</p>;
  return (
    <>
      <h1>{name}</h1>
      <ul>{list.articles.map((each) => (
        <li key={each.slug}><Link to={`/article/${each.slug}`}>{each.title}</Link></li>
      ))}</ul>
      {list.next && <Link to={`/section/${name}/${list.next}`}>Older articles</Link>}
    </>
  );
}

function Article() {
  const { slug } = useParams();
  const article = useJson(`/api/article/${slug}.json`);
  useEffect(() => { if (article) document.title = article.title; });
  if (!article) return <p>Loading…</p>;
  return (
    <article>
      <h1>{article.title}</h1>
      {article.paragraphs.map((text, place) => <p key={place}>{text}</p>)}
    </article>
  );
}

function App() {
  useLocation();
  return (
    <>
      <header><Link to="/">The Daily Record</Link> News from five desks, every morning</header>
      <main>
        <Routes>
          <Route path="/" element={<Home />} />
          <Route path="/section/:name/:page" element={<Section />} />
          <Route path="/article/:slug" element={<Article />} />
        </Routes>
      </main>
      <footer>Terms of use · Privacy · Contact the newsroom</footer>
    </>
  );
}

createRoot(document.getElementById("root")).render(<BrowserRouter><App /></BrowserRouter>);
