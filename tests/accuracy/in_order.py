"""A crawl without a network: pages in a given order, through the classes that crawls consist of.

Attacks depend on who comes first, which several requests at a time would leave to chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from dedup.config import DedupConfig
from dedup.html.page_text import PageText
from dedup.scrapy.job.baseline import Baseline
from dedup.scrapy.job.content import ContentIndex
from dedup.scrapy.reading.content import Content, ContentReader, RawPage, Wanted
from dedup.sites.learner import LearningStep, SiteLearner
from dedup.sites.outline import Outline
from dedup.store import Page, SqliteStore

HOST = "http://site.example/"
_STAGES = ("body", "text", "sentences", "simhash", "minhash")


@dataclass
class CrawlResult:
    """What a crawl has left.

    Attributes:
        texts: of the stored pages, by path.
        dropped: the originals of the others.
    """

    texts: dict[str, str]
    dropped: dict[str, str]


def crawl_in_order(pages: Iterable[tuple[str, str]], folder: Path) -> CrawlResult:
    """Crawl pages, path and HTML of each, one after the other."""
    store = SqliteStore(folder / "crawl.sqlite")
    try:
        crawl = _Crawl(store)
        for path, html in pages:
            crawl.fetch(HOST + path, html)
        return crawl.finish()
    finally:
        store.close()


class _Crawl:
    """What `Arrivals` and `ItemJudge` do, without items and pipelines."""

    def __init__(self, store: SqliteStore) -> None:
        config = DedupConfig()
        wanted = Wanted("content", False, True, True, frozenset(_STAGES), config)
        self._reader = ContentReader(wanted)
        self._store = store
        self._learner = SiteLearner(store.learned, max_waiting=1_000)
        self._content = ContentIndex(store, config, self._learner, Baseline(store, (), ()))
        self._content.use(_STAGES)
        self._content.open()
        self._dropped: dict[str, str] = {}

    def fetch(self, url: str, html: str) -> None:
        raw = RawPage(html.encode(), url, "text/html; charset=utf-8", ())
        found = self._reader.read(raw, self._learner.site("site.example"))
        page, extracted = _page(raw, found), found.extracted
        self._judge_all(self._learner.release(url))
        if extracted.contribution is not None:
            self._reread(self._learner.add(url, extracted.contribution))
        elif extracted.outline is not None and not self._content.is_copy(page):
            with self._store.unit():
                self._judge_all(self._learner.arrive(page, extracted.outline))
            return
        self._judge(page, extracted.outline)

    def finish(self) -> CrawlResult:
        while (step := self._learner.finish()).ready:
            self._judge_all(step)
        stored = {page["url"]: page["text"] for page in self._store.exports.pages()}
        return CrawlResult(
            {url.removeprefix(HOST): text for url, text in stored.items()}, self._dropped
        )

    def _judge_all(self, step: LearningStep) -> None:
        self._reread(step)
        for ready in step.ready:
            self._judge(ready.page, ready.outline)
            if ready.place is not None:
                self._learner.done(ready.place)

    def _judge(self, page: Page, outline: Outline | None) -> None:
        match = self._content.find(page)
        if match is not None:
            original = self._store.document(match.original).url or ""
            self._dropped[(page.url or "").removeprefix(HOST)] = original.removeprefix(HOST)
            return
        number = self._content.add(page)
        if outline is not None:
            self._reread(self._learner.early(number, page, outline))

    def _reread(self, step: LearningStep) -> None:
        for number, own in step.reread:
            self._content.change(number, own)


def _page(raw: RawPage, found: Content) -> Page:
    extracted: PageText = found.extracted
    page = Page(
        id="",
        url=raw.url,
        title=found.page.title,
        text=extracted.text,
        body=raw.body,
        size_bytes=len(raw.body),
        fetched_at=1e9,
    )
    return replace(
        page,
        heading=extracted.heading,
        own_title=extracted.title,
        source=extracted.source,
        site_version=extracted.site_version or None,
        rest=extracted.rest,
    )
