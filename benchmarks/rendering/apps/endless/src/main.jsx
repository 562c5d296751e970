import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

function Stream() {
  const [items, setItems] = useState([]);
  const [next, setNext] = useState(0);
  const end = useRef(null);

  useEffect(() => {
    const observer = new IntersectionObserver(async ([entry]) => {
      if (!entry.isIntersecting || next === null) return;
      observer.disconnect();
      const found = await (await fetch(`/api/items.json?offset=${next}`)).json();
      setItems((before) => [...before, ...found.items]);
      setNext(found.next);
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [next]);

  return (
    <main>
      <h1>The Stream</h1>
      {items.map((each) => (
        <section key={each.slug} style={{ minHeight: 120 }}>
          <h2><a href={`/item/${each.slug}.html`}>{each.title}</a></h2>
          <p>{each.teaser}</p>
        </section>
      ))}
      <div ref={end}>{next === null ? "That is all." : "Loading…"}</div>
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Stream />);
