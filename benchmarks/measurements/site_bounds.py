"""What learning of sites and the second look cost at their bounds: `site_bounds.py MODE [SCALE]`.

`hosts`: 10,000 hosts of five pages each, of which nothing can be learned before the end.
`templates`: one host of 100,000 pages of 200 templates, in random order.
`large`: 20 pages of 5 MB and 200,000 lines on one host, each with 2,000 lines of its own; read and
judged as in a crawl.

SCALE, 1 by default, is the share of these hosts or pages.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time

from dedup import DedupConfig, Deduplicator
from dedup.detectors import SecondCheck, default_detectors
from dedup.html.bounds import bounded
from dedup.html.page_text import page_text
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import RawPage, Wanted
from dedup.sites.learner import LearningStep, SiteLearner
from dedup.store import Page, open_store

_WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi", "su") for b in "nrstv" for c in "aeiouy"]


def prose(name: str, n_words: int) -> str:
    return " ".join(random.Random(name).choices(_WORDS, k=n_words))


def html(site: str, theme: int, number: int) -> str:
    """A page of some 6 kB: a side bar of 60 links, and 60 words of its own.

    Themes differ in elements, in their order and in how deep the content stands.
    """
    words = prose(f"{site} bar", 180).split()
    bar = "".join(f"<li><a href=/{n}>{' '.join(words[n::60])}</a>" for n in range(60))
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
            rest=said.rest,
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

    def report(self, n_pages: int) -> None:
        print(f"read by what is known: {self.n_by_site:,}")
        print(f"reading {self.read_seconds / n_pages * 1e3:.2f} ms a page, ", end="")
        print(f"learning and waiting {self.learn_seconds / n_pages * 1e3:.2f} ms a page")
        print(f"peak memory {peak_mb():,.0f} MB, store {self.store_mb():,.0f} MB")

    def store_mb(self) -> float:
        return self.store.path.stat().st_size / 1e6

    def report_stored(self) -> None:
        self.store.commit()
        learned, numbers = self.store.learned, list(self.store.exports.page_numbers())
        numbers = numbers[:: 1 + len(numbers) // 1000] + numbers[-1:]
        rests = [self.store.document(number).rest for number in numbers]
        for name, sizes in (
            ("for the look, a page", [len(each.kept().to_bytes()) for each in rests if each]),
            ("known, a host", [len(learned.site(host) or b"") for host in learned.hosts()]),
        ):
            mean = sum(sizes) / max(len(sizes), 1)
            print(f"{name}: {mean:,.0f} bytes, at most {max(sizes, default=0):,}")
        self.store.close()


def peak_mb(who: int = resource.RUSAGE_SELF) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def large(number: int) -> bytes:
    """A page of 200,000 lines, of which every hundredth is its own."""
    choose, own = random.Random(7), random.Random(number)
    lines = [f"<p>{' '.join(choose.choices(_WORDS, k=4))} {n}" for n in range(200_000)]
    lines[::100] = [f"<p>{' '.join(own.choices(_WORDS, k=4))}" for _ in lines[::100]]
    return f"<title>Manual</title><h1>Manual</h1><main>{chr(10).join(lines)}</main>".encode()


def read_large(crawl: Crawl, host: str, n_pages: int) -> None:
    """Read pages as a crawl does, and keep those that are no duplicates."""
    config, learner = DedupConfig(), crawl.learner
    check = SecondCheck(
        crawl.store.document,
        near_resemblance=config.near_resemblance,
        short_shingles=config.short_shingles,
        rare_on=learner.rare_on,
    )
    detectors = default_detectors(crawl.store.document, config, check=check)
    deduplicator = Deduplicator(detectors, store=crawl.store)
    for number in range(20):
        crawl.page(host, 0, number)
    before, start = crawl.store_mb(), time.process_time()
    stages = frozenset(each.stage for each in detectors)
    worker = BlockingWorker(
        Wanted("content", True, True, bodies=True, stages=stages, detection=config)
    )
    n_kept = 0
    for number in range(n_pages):
        url, body = f"http://{host}/{number}/manual.html", large(number)
        raw = RawPage(body, url, "text/html", ())
        start -= time.process_time()
        found = worker.read(raw, host, learner.site(host))
        said = found.extracted
        page = found.complete(Page(id="", text="", url=url, body=body, size_bytes=len(body)))
        verdict = deduplicator.process(page)
        if said.contribution is not None:
            learner.add(url, said.contribution)
        if verdict.number is not None and said.outline is not None:
            learner.early(verdict.number, page, said.outline)
        start += time.process_time()
        n_kept += verdict.number is not None
    crawl.store.commit()
    spent = time.process_time() - start
    worker.close()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    read = children.ru_utime + children.ru_stime
    print(f"{n_pages} pages of {len(body) / 1e6:.1f} MB, kept {n_kept}")
    children_mb = peak_mb(resource.RUSAGE_CHILDREN)
    print(f"reading {read / n_pages:.2f} s a page, peak memory {children_mb:,.0f} MB")
    print(f"judging {spent / n_pages:.2f} s a page, peak memory {peak_mb():,.0f} MB")
    print(f"store {(crawl.store_mb() - before) / n_pages:.2f} MB a page")


def read_many(crawl: Crawl, n_hosts: int, n_pages: int) -> None:
    """Read pages of hosts in turns, or of one host of many templates."""
    choose, before, tenth = random.Random(5), 0.0, n_pages // 10
    for number in range(n_pages):
        theme = choose.randrange(200) if n_hosts == 1 else 0
        crawl.page(f"h{number % n_hosts}.example", theme, number)
        if (number + 1) % tenth == 0:
            spent = crawl.read_seconds + crawl.learn_seconds
            ms, before = (spent - before) / tenth * 1e3, spent
            print(f"{number + 1:,} pages: {ms:.2f} ms a page", flush=True)
    crawl.finish()
    crawl.report(n_pages)


def main(which: str, scale: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(folder)
        print(f"memory at the start {peak_mb():,.0f} MB")
        if which == "large":
            read_large(crawl, "h0.example", round(20 * scale))
        elif which == "hosts":
            read_many(crawl, int(10_000 * scale), int(50_000 * scale))
        else:
            read_many(crawl, 1, int(100_000 * scale))
        crawl.report_stored()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
