"""The sites on loopback: built ones, and two whose server decides what scripts have to do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import unquote, urlsplit

from benchmarks.rendering import pages
from benchmarks.rendering.records import Record
from benchmarks.rendering.truth import SITE, TruePage, Truth
from benchmarks.sites.folder import HTML, Answer, SiteFolder
from benchmarks.sites.server import SiteServer

_LIST = 25  # links of a list page


class TrueSite(Protocol):
    """A site and its truth, which the server may learn while it answers."""

    def answer(self, target: str, base: str) -> Answer: ...

    @property
    def pages(self) -> Mapping[str, TruePage]: ...


class BuiltSite(SiteFolder):
    """A site that `build` made; where its truth says so, one file answers for all its paths."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / SITE)
        truth = Truth.read(folder)
        self.pages = truth.pages
        self._fallback = truth.fallback

    def answer(self, target: str, base: str) -> Answer:
        found = super().answer(target, base)
        is_page = not PurePosixPath(urlsplit(target).path).suffix
        if found.status == 404 and self._fallback and is_page:
            return super().answer(f"/{self._fallback}", base)
        return found


class TurningSite:
    """One template, of which some pages have their text, or the rest of it, from a script.

    Args:
        every: each page with this number is made by a script, the others are static; 0: the
            template turns when half of the pages have been asked for, and is scripted from there.
        until: this many paragraphs are static on each page; the script adds the others.
    """

    _SCRIPT = (
        "const rest = document.querySelector('.rest');"
        "if (!rest.children.length) fetch(location.pathname.replace('.html', '.json'))"
        ".then((answer) => answer.text()).then((text) => { rest.innerHTML = text; });"
    )

    def __init__(self, records: Sequence[Record], *, every: int = 0, until: int = 0) -> None:
        self._records = {each.slug: each for each in records}
        self._scripted = {each.slug for each in records[every // 2 :: every]} if every else set()
        self._turns_after = len(records) if every else len(records) // 2
        self._until = until
        self._asked: dict[str, bool] = {}
        lists = -(-len(records) // _LIST)
        self._lists = {f"/list/{number}.html" for number in range(1, lists + 1)}

    @property
    def pages(self) -> Mapping[str, TruePage]:
        found = {path: TruePage() for path in ("/", *self._lists)}
        for slug, each in self._records.items():
            scripted = self._asked.get(slug, slug in self._scripted)
            found[f"/page/{slug}.html"] = TruePage(each.title, each.text, scripted)
        return found

    def answer(self, target: str, base: str) -> Answer:  # noqa: ARG002 -- links have no host
        path = unquote(urlsplit(target).path)
        if path == "/":
            return _html("Contents", self._contents())
        if path in self._lists:
            number = int(re.sub(r"\D", "", path))
            part = [*self._records.values()][(number - 1) * _LIST : number * _LIST]
            return _html(f"List {number}", pages.links(part, "/page/"))
        name = PurePosixPath(path)
        if (record := self._records.get(name.stem)) is None or str(name.parent) != "/page":
            return Answer(404, HTML, b"<p>404</p>")
        if name.suffix == ".json":
            return Answer(200, HTML, pages.body(record.paragraphs[self._until :]).encode())
        return self._page(record)

    def _contents(self) -> str:
        items = (f'<li><a href="{path}">{path}</a></li>' for path in sorted(self._lists))
        return f"<ul>{''.join(items)}</ul>"

    def _page(self, record: Record) -> Answer:
        turned = len(self._asked) >= self._turns_after
        scripted = turned or record.slug in self._scripted
        self._asked.setdefault(record.slug, scripted)
        rest = "" if scripted else pages.body(record.paragraphs[self._until :])
        return _html(
            record.title,
            f"{pages.article(record, until=self._until)}\n<div class='rest'>{rest}</div>"
            f"<script>{self._SCRIPT}</script>",
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """A request.

    Attributes:
        by_browser: for a document, by a browser.
    """

    path: str
    by_browser: bool


@dataclass
class SiteLog:
    """What was asked of a site, in order."""

    requests: list[Asked] = field(default_factory=list)

    def rendered(self) -> list[str]:
        """The paths of documents that a browser asked for, repeated ones too."""
        return [asked.path for asked in self.requests if asked.by_browser]


class LoggedServer(SiteServer):
    """Serves a site, and tells what a browser asked for as a document.

    A browser says so in `Sec-Fetch-Dest`, and in `User-Agent` what it is; `browser` is part of it,
    for crawlers whose other client sends the headers of a browser as well.
    """

    def __init__(self, site: TrueSite, browser: str = "") -> None:
        self.log = SiteLog()
        self._browser = browser
        super().__init__(site)

    def _handler(self) -> type:
        log, browser = self.log, self._browser

        class Handler(super()._handler()):  # type: ignore[misc]  # a class made for one server
            def answer(self) -> Answer:
                is_document = self.headers.get("Sec-Fetch-Dest") in {"document", "iframe"}
                by_browser = is_document and browser in (self.headers.get("User-Agent") or "")
                log.requests.append(Asked(urlsplit(self.path).path, by_browser))
                found: Answer = super().answer()
                return found

        return Handler


def _html(title: str, content: str) -> Answer:
    return Answer(200, HTML, pages.page(title, content).encode())
