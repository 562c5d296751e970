"""Jobs of pages with bodies, for the tests of what a report says of texts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dedup.report.data import report_data
from dedup.sites.site import learn
from dedup.sites.state import SiteState
from dedup.store import Page, SqliteStore
from tests.dedup.sites.conftest import learned, parsed, read, sphinx, title_of, url_of

HOST = "site.example"


def read_pages(count: int, **changes: Any) -> list[Page]:
    """Pages of a site, as they are read by what is known of it."""
    bodies = [sphinx(number) for number in range(count)]
    site = learned(*bodies)
    pages = []
    for number, body in enumerate(bodies):
        own = read(site, body, number)
        fields: dict[str, Any] = {
            "text": own.text,
            "heading": own.heading,
            "own_title": own.title,
            "title": title_of(number),
            "url": url_of(number),
            "body": f"<body>{body}</body>".encode(),
            "size_bytes": len(body),
            "source": "box",
            "rest": own.rest,
            "site_version": 1,
        }
        pages.append(Page(id="", **{**fields, **changes}))
    return pages


def job_of(folder: Path, pages: Iterable[Page], *, is_known: bool = True) -> Path:
    """A job of stored pages."""
    store = SqliteStore(folder / "crawl.sqlite")
    if is_known:
        state = SiteState()
        outlines = (parsed(sphinx(number)) for number in range(12))
        state.begin(learn((each, title_of(n), url_of(n)) for n, each in enumerate(outlines)))
        store.learned.set_site(HOST, state.to_bytes())
    for page in pages:
        store.add(page, {})
    store.close()
    return folder


def data_of(folder: Path) -> dict[str, Any]:
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    try:
        return report_data(store)
    finally:
        store.close()
