"""What learning of sites costs at its bounds: `site_bounds.py [hosts | templates]`.

`hosts`: 10,000 hosts of five pages each, of which nothing can be learned before the end.
`templates`: one host of 100,000 pages of 200 templates, in random order.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time

from dedup.html.bounds import bounded
from dedup.html.page_text import page_text
from dedup.sites.learner import LearningStep, SiteLearner
from dedup.store import Page, open_store

_WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi", "su") for b in "nrstv" for c in "aeiouy"]


def prose(name: str, n_words: int) -> str:
    return " ".join(random.Random(name).choices(_WORDS, k=n_words))


def html(site: str, theme: int, number: int) -> str:
    """A page of some 6 kB: a side bar of 60 links, and 60 words of its own.

    Themes differ in elements, in their order and in how deep the content stands.
    """
    bar = "".join(f"<li><a href=/{n}>{prose(f'{site} bar {n}', 3)}</a>" for n in range(60))
    side = f"<div class=side><ul>{bar}</ul><p>{prose(f'{site} foot', 20)}</p></div>"
    tag = ("div", "section", "article", "table")[theme % 4]
    cell, cell_end = ("<tr><td>", "</table>") if tag == "table" else ("", f"</{tag}>")
    own = f"<h1>Page {number}</h1><p>{prose(f'{site} {number}', 60)}</p>"
    depth = theme // 4 % 5
    main = f"<{tag} id=own>{cell}{'<div>' * depth}{own}{'</div>' * depth}{cell_end}"
    lead = f"<div class=lead>{prose(f'lead {theme}', 10)}</div>" * (theme // 40)
    parts = (side, main) if theme // 20 % 2 else (main, side)
    return f"<title>Page {number} - {site}</title><body><div class=all>{lead}{''.join(parts)}</div>"


class Crawl:
    """Pages go through the learner as they do in a crawl."""

    def __init__(self, folder: str) -> None:
        self.store = open_store(folder, group_units=100)
        self.learner = SiteLearner(self.store.learned, max_waiting=10_000)
        self.read_seconds = self.learn_seconds = 0.0
        self.n_by_site = 0

    def page(self, host: str, theme: int, number: int) -> None:
        url, text = f"http://{host}/{number}", html(host, theme, number)
        title = f"Page {number} - {host}"
        start = time.process_time()
        said = page_text(bounded(text), title, site=self.learner.site(host), url=url)
        read = time.process_time()
        page = Page(
            id="",
            text=said.text,
            url=url,
            title=title,
            body=text.encode(),
            source=said.source,
            fetched_at=1e9 + number,
            size_bytes=len(text),
        )
        if said.contribution is not None:
            self.n_by_site += 1
            self.learner.add(url, said.contribution)
            self.store.add(page, {})
        elif said.outline is not None:
            self.judge(self.learner.arrive(page, said.outline))
        self.read_seconds += read - start
        self.learn_seconds += time.process_time() - read

    def judge(self, progress: LearningStep) -> None:
        for ready in progress.ready:
            number = self.store.add(ready.page, {})
            if ready.place is not None:
                self.learner.done(ready.place)
            if ready.outline is not None:
                self.judge(self.learner.early(number, ready.page, ready.outline))

    def finish(self) -> None:
        start = time.process_time()
        while (progress := self.learner.finish()).ready:
            self.judge(progress)
        self.learn_seconds += time.process_time() - start

    def report(self, n_pages: int, n_hosts: int) -> None:
        self.store.close()
        store = open_store(self.store.path, read_only=True)
        sizes = [len(store.learned.site(host) or b"") for host in store.learned.hosts()]
        store.close()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{n_hosts:,} hosts, {n_pages:,} pages; read by what is known: {self.n_by_site:,}")
        print(f"known: {len(sizes):,} hosts, {sum(sizes) / max(len(sizes), 1):,.0f} bytes each")
        print(f"reading {self.read_seconds / n_pages * 1e3:.2f} ms a page, ", end="")
        print(f"learning and waiting {self.learn_seconds / n_pages * 1e3:.2f} ms a page")
        print(f"peak memory {peak:,.0f} MB, store {self.store.path.stat().st_size / 1e6:,.0f} MB")


def main(which: str, scale: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(folder)
        if which == "hosts":
            n_hosts, n_pages = int(10_000 * scale), int(50_000 * scale)
            for number in range(n_pages):
                crawl.page(f"h{number % n_hosts}.example", 0, number)
        else:
            n_hosts, n_pages = 1, int(100_000 * scale)
            choose = random.Random(5)
            for number in range(n_pages):
                crawl.page("one.example", choose.randrange(200), number)
        crawl.finish()
        crawl.report(n_pages, n_hosts)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
