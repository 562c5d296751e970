"""Which pages of a crawl are rendered: chosen, rendered, compared, learned of, and recorded."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import HtmlResponse, Response
from xxhash import xxh3_64_intdigest

from dedup.rendering.additions import Additions, Compared
from dedup.rendering.comparison import Form, loses_nothing
from dedup.rendering.learner import Choice, HostTemplates, Kind, Template
from dedup.rendering.record import BOTH_WAYS, FAILED, KEPT, LAST, LATER, TURNED_OVER, HowRead
from dedup.scrapy.job.job import Job
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.rendering.order import ArrivalOrder
from dedup.scrapy.rendering.places import at_url
from dedup.scrapy.rendering.record import Rendering, RenderingError
from dedup.scrapy.rendering.spared import SparedPages
from dedup.scrapy.spiders.site_reader import SiteReader
from dedup.store.sql.rendering import ToRender
from dedup.urls.parts import host_of
from dedup.urls.routes import RouteWatch

_FEW_SHINGLES = 50
"""A shorter text may lack what scripts add."""

_MAX_THIRD_PARTIES = 100
"""That are counted by name."""

_COMES_AGAIN = ("timeout", "crashed")
"""Failures that may be the doing of a busy machine, or of another page."""

_MAX_LAST_FAILURES = 3
"""Of a host in a row, when pages come again at the end; the others are not tried any more: each
takes all of its seconds while nothing else is done."""

_QUEUED_AT_ONCE = 1_000
"""Pages that are queued again when nothing else is left."""


class RendersPages(Protocol):
    """A browser, as `dedup.scrapy.rendering.browser.Browser`."""

    async def render(self, response: Response) -> HtmlResponse:
        """The page of a response, as it is after its scripts have run."""

    async def close(self) -> None:
        """End the browser."""


class RenderedPages:
    """Reads pages once more as a browser shows them, where that is needed.

    A page stays in flight meanwhile. The first pages of a template are rendered at the same time,
    others wait for what is found. If the raw page lacks nothing, it is the one that is stored, so
    that all pages of its template are read alike; links of both are followed. Where rendering
    fails, the raw page is stored, and nothing is learned. If the browser may have lacked time, the
    page comes again when nothing else is left, and is rendered with no other beside it.

    What is known of a host's templates is loaded from the job with its first page. Of processes
    that share a job, each learns of the hosts that it fetches from.

    Args:
        mode: "auto" or "always".
        order: of the pages that are read here; see `abandon`.
        is_skipped: is a page not to be stored, for what it declares?
        is_in_scope: is a link to be compared?
    """

    def __init__(
        self,
        crawler: Crawler,
        job: Job,
        browser: RendersPages,
        reader: SiteReader,
        *,
        mode: str,
        order: ArrivalOrder,
        is_skipped: Callable[[Reading], object],
        is_in_scope: Callable[[str], bool],
    ) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._job = job
        self._table = job.store.learned.rendering
        self._browser = browser
        self._reader = reader
        self._mode = mode
        self._order = order
        self._is_skipped = is_skipped
        self._is_in_scope = is_in_scope
        self._hosts: dict[str, HostTemplates] = {}
        self._additions: dict[str, Additions] = {}
        self._decided: dict[tuple[str, int], asyncio.Event] = {}
        """Is set when a page of a template has been rendered, for those that wait for it."""
        self._tasks: set[asyncio.Task[HtmlResponse]] = set()
        self._third_parties: set[str] = set()
        self._alone = asyncio.Lock()
        self._last_failures: Counter[str] = Counter()
        self._is_abandoned = False
        self._spared = SparedPages(crawler, job, max_scrolls=job.config.render_scrolls)
        self._checked: set[str] = set()
        """URLs of pages that are rendered to see whether they are the same."""
        self._routes: RouteWatch = job.urls.budgets.routes
        job.rendering = self
        crawler.signals.connect(self._queue_again, signals.spider_idle)

    async def is_as_before(self, response: Response, raw: Reading) -> bool:
        """Is this the visit of a rendered page that is known to be the same without a browser?

        Raises:
            CloseSpider: as `read`.
        """
        if raw.raw.format or self._is_skipped(raw):
            return False
        host, url = host_of(response.url), response.url
        self._checked.discard(url)
        try:
            found = await self._spared.find(host, response, self._table.of_page(host, url))
        except asyncio.CancelledError:
            self._check_open()
            raise
        if found == "check":
            self._checked.add(url)
        return found == "same"

    async def read(self, response: Response, raw: Reading) -> Reading:
        """The page as it is to be stored, and the links to follow.

        Raises:
            CloseSpider: `abandon` has been called; the page stays queued.
        """
        if raw.raw.format or self._is_skipped(raw):
            return raw
        host = host_of(response.url)
        read = self._table.of_page(host, raw.page.url or "")
        choice = await self._choice(host, raw, read)
        if not choice.is_rendered:
            self._note(host, raw, choice)
            self._note_shown(raw)
            return raw
        if read is None or not read.why.startswith(LAST):
            return await self._both_ways(host, response, raw, choice, failed=LATER)
        async with self._alone:
            return await self._last(host, response, raw, choice, read.why.removeprefix(LAST))

    def abandon(self) -> None:
        """Stop rendering; nothing waits for it any more."""
        self._is_abandoned = True
        self._order.abandon()
        self._spared.abandon()
        for task in self._tasks:
            task.cancel()
        for event in self._decided.values():
            event.set()

    async def close(self) -> None:
        """End the browser."""
        await self._browser.close()

    # --- Choosing --------------------------------------------------------------------------------

    async def _choice(self, host: str, raw: Reading, read: HowRead | None) -> Choice:
        """`read`: how the page was read before; it may be recorded, and is no copy of itself."""
        kind = kind_of(raw)
        may_be_copy = read is None or read.why == "duplicate"
        if self._mode == "always" or raw.template is None:
            if may_be_copy and kind == "full" and self._is_copy(raw):
                return Choice(None, is_rendered=False, why="duplicate")
            return Choice(None, is_rendered=True, why="always")
        templates = self._of_host(host)
        while True:
            found = templates.choose(
                raw.template, kind, is_copy=lambda: may_be_copy and self._is_copy(raw)
            )
            if found.is_rendered is not None or found.template is None:
                return found
            await self._event(host, found.template).wait()
            self._check_open()

    def _of_host(self, host: str) -> HostTemplates:
        if host not in self._hosts:
            known = self._table.templates(host)
            self._hosts[host] = HostTemplates(known)
            self._additions[host] = Additions({each.number for each in known if each.n_same})
        return self._hosts[host]

    def _is_copy(self, raw: Reading) -> bool:
        """Has the raw page, which has a text of its own, an original that is recorded?

        While nothing is known of its site, only an equal body counts. A page that was kept for what
        its scripts take away is none: all pages of its template may open with its text.
        """
        is_unknown = raw.outline is not None and raw.contribution is None
        stages = ("body",) if is_unknown else ("body", "text")
        match = self._job.pages.content.find(raw.page, stages)
        return match is not None and self._table.why_of(match.original) != KEPT

    def _event(self, host: str, template: Template) -> asyncio.Event:
        return self._decided.setdefault((host, template.number), asyncio.Event())

    def _check_open(self) -> None:
        if self._is_abandoned:
            raise CloseSpider("shutdown")

    # --- Rendering -------------------------------------------------------------------------------

    async def _last(
        self, host: str, response: Response, raw: Reading, choice: Choice, reason: str
    ) -> Reading:
        """Render a page that has failed before, unless too many of its host have failed again."""
        self._check_open()
        if self._last_failures[host] < _MAX_LAST_FAILURES:
            return await self._both_ways(host, response, raw, choice, failed=FAILED)
        self._learn(host, choice, is_same=None)
        self._note(host, raw, choice._replace(is_rendered=False), why=f"{FAILED}{reason}")
        return raw

    async def _both_ways(
        self, host: str, response: Response, raw: Reading, choice: Choice, *, failed: str
    ) -> Reading:
        """Read a page raw and rendered; `failed`: what is noted if it may come again."""
        is_same: bool | None = None
        is_richer = False
        began = time.monotonic()
        try:
            rendered, record = await self._rendered(response)
            seconds = record.seconds
            raw, rendered = await self._by_same_knowledge(response, raw, rendered)
            is_same, is_richer = self._compare(host, raw, rendered, choice.template)
        except RenderingError as error:
            self._stats.inc_value(f"dedup/rendering/failed/{error.reason}")
            seconds = time.monotonic() - began
            kind = failed if error.reason in _COMES_AGAIN else FAILED
            self._last_failures[host] += failed == FAILED
            done = choice._replace(is_rendered=False)
            self._note(host, raw, done, why=f"{kind}{error.reason}", seconds=seconds)
            return raw
        finally:
            self._learn(host, choice, is_same=is_same)
            is_checked = response.url in self._checked
            self._checked.discard(response.url)
        if is_checked:
            self._spared.learn(host, response, rendered.page)
        if failed == FAILED:
            self._last_failures[host] = 0
        # A page that lacks nothing is read as the others of its template are.
        is_raw = is_richer or (is_same and choice.why in BOTH_WAYS)
        done = choice._replace(is_rendered=not is_raw)
        why = KEPT if is_richer else ""
        self._note(host, raw, done, why=why, seconds=seconds, is_same=is_same)
        if not is_raw:
            self._spared.note(host, response, rendered.page, record)
        self._stats.inc_value(f"dedup/rendering/rendered/{choice.why}")
        chosen, other = (raw, rendered) if is_raw else (rendered, raw)
        self._note_shown(chosen)
        return chosen._replace(links=list(dict.fromkeys([*chosen.links, *other.links])))

    def _compare(
        self, host: str, raw: Reading, rendered: Reading, template: Template | None
    ) -> Compared:
        links = [each for each in rendered.links if self._is_in_scope(each)]
        forms = Form(raw.page, raw.links, raw.outline), Form(rendered.page, links, rendered.outline)
        if template is None:
            return Compared(loses_nothing(*forms))
        return self._additions[host].compare(template, *forms)

    async def _rendered(self, response: Response) -> tuple[Reading, Rendering]:
        """The page as the browser shows it, and the record of the rendering."""
        self._check_open()
        task = asyncio.ensure_future(self._browser.render(response))
        self._tasks.add(task)
        try:
            made = await task
        except asyncio.CancelledError:
            self._check_open()
            raise
        finally:
            self._tasks.discard(task)
        record: Rendering = made.meta["rendering"]
        self._stats.inc_value("dedup/rendering/requests", record.n_requests)
        self._stats.inc_value("dedup/rendering/bytes", record.n_bytes)
        if record.n_scrolls:
            self._stats.inc_value("dedup/rendering/scrolls", record.n_scrolls)
        if record.stopped_by is not None:
            self._stats.inc_value(f"dedup/rendering/scrolling_stopped/{record.stopped_by}")
        for host in record.third_parties:
            self._note_third_party(host)
        reading = await self._reader.read(made)
        if reading is None:
            raise RenderingError("failed", "the rendered page is not HTML")
        links = [*reading.links, record.leads_to] if record.leads_to else reading.links
        # A script may have changed the URL that the browser shows.
        return reading._replace(page=at_url(reading.page, response.url), links=links), record

    async def _by_same_knowledge(
        self, response: Response, raw: Reading, rendered: Reading
    ) -> tuple[Reading, Reading]:
        """Both, read by what is known of the site at one time: that decides which lines count."""
        while raw.site_version != rendered.site_version:
            raw = await self._reader.read_again(raw, response)
            rendered = await self._reader.read_again(rendered, response)
        return raw, rendered

    def _note_shown(self, reading: Reading) -> None:
        """Note what a page shows at its URL, so that routes are found that show nothing new.

        Its text depends on what is known of its site, but not what is between its tags.
        """
        between = b"".join(each.partition(b">")[2] for each in reading.raw.body.split(b"<"))
        texts = reading.page.text.encode("utf-8", "surrogatepass"), between
        self._routes.note(reading.page.url or "", [xxh3_64_intdigest(each) for each in texts])

    def _note_third_party(self, host: str) -> None:
        self._third_parties.add(host)
        if len(self._third_parties) > _MAX_THIRD_PARTIES:  # pages can name hosts without end
            self._third_parties.discard(host)
            host = "others"
        self._stats.inc_value(f"dedup/rendering/third_party/{host}")

    def _learn(self, host: str, choice: Choice, *, is_same: bool | None) -> None:
        if (template := choice.template) is None:
            return
        is_turned = self._of_host(host).learn(choice, is_same=is_same)
        if (event := self._decided.pop((host, template.number), None)) is not None:
            event.set()
        if is_turned:
            self._stats.inc_value("dedup/rendering/turned_over", int(choice.why == "audit"))
            number, since = template.number, template.since
            self._job.turns.call(
                ("turn over", host, number), lambda: self._table.turn_over(host, number, since)
            )

    def _note(
        self,
        host: str,
        raw: Reading,
        choice: Choice,
        *,
        why: str = "",
        seconds: float = 0.0,
        is_same: bool | None = None,
    ) -> None:
        template, sketch = choice.template, None
        if template is not None and not template.is_stored:
            template.is_stored, sketch = True, template.sketch
        read = HowRead(
            host,
            raw.page.url or "",
            None if template is None else template.number,
            kind_of(raw),
            bool(choice.is_rendered),
            why or choice.why,
            seconds,
            is_same,
            sketch,
            choice.period,
        )
        self._job.turns.call(("how read", host, read.url), lambda: self._table.note(read))

    # --- Pages that were not rendered and should have been ---------------------------------------

    def _queue_again(self) -> None:
        """Queue pages to be rendered, when nothing else is left.

        Those of templates that turned out to need it come first, then those that have failed.
        """
        if self._is_abandoned or self._job.failure is not None:
            return
        requests, revisits = self._job.urls.requests, self._job.urls.revisits
        found = self._to_render(TURNED_OVER)
        if not found and (found := self._to_render(LATER)):
            for host in {host for host, _ in found}:
                self._of_host(host).forget_failures()

        def queue() -> None:
            with self._job.store.unit():
                for host, (url, page, duplicate) in found:
                    if page is None and duplicate is not None:
                        revisits.judge_again(url, duplicate)
                    requests.add_known(url, page)
                    self._table.note_queued(host, url)

        if found:
            self._stats.inc_value("dedup/rendering/again", len(found))
            self._job.turns.call("queue again", queue)
            raise DontCloseSpider

    def _to_render(self, why: str) -> list[tuple[str, ToRender]]:
        hosts: Iterable[str] = filter(
            self._job.urls.requests.is_ours, self._table.hosts_to_render(why)
        )
        return [
            (host, each)
            for host in hosts
            for each in self._table.to_render(host, _QUEUED_AT_ONCE, why)
        ]


def kind_of(raw: Reading) -> Kind:
    """The kind of a raw page, see `dedup.rendering.learner`."""
    if raw.page.needs_rendering:
        return "shell"
    if "#" in (raw.page.url or ""):
        return "route"
    return "full" if len(raw.page.shingles) >= _FEW_SHINGLES else "thin"
