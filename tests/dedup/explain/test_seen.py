"""Which page of a job has a text that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dedup import Deduplicator
from dedup.document import Document
from dedup.explain.seen import SeenPages
from dedup.names import own_title
from dedup.store import Page, open_store

if TYPE_CHECKING:
    from dedup.store import JobStore

TEXT = "Given by the ferrymen in 1951."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    with open_store(tmp_path) as store:
        names = {"title": "The bench - Tea Museum", "own_title": "The bench"}
        where = {"url": "http://a.example/bench", "fetched_at": 7.0}
        page: Any = Page(id="", text=TEXT, heading="The bench", source="box", **names, **where)
        Deduplicator(store=store).process(page)
        yield store


@pytest.mark.parametrize(
    ("title", "url", "is_found"),
    [
        ("The bench - Tea Museum", None, True),
        ("The bench - Tea Museum", "http://a.example/bench", True),
        ("The bench - Tea Museum", "http://new.example/", True),
        ("The bench - Mirror", "http://mirror.example/bench", True),  # a site that is known
        ("The bench - Mirror", None, False),  # nobody knows that this is the site's part
        ("The bench - Mirror", "http://new.example/", False),
        ("The hedge - Tea Museum", "http://a.example/hedge", False),
        ("", None, False),
    ],
)
def test_short_texts_are_found_by_their_whole_title(
    store: JobStore, title: str, url: str | None, is_found: bool
) -> None:
    class Site:
        def own_title(self, title: str) -> str:
            return own_title(title, {"tea museum", "mirror"})

    seen = SeenPages(store)
    seen.site = {"a.example": Site(), "mirror.example": Site()}.get  # type: ignore[assignment]
    asked = Document(id="", text=TEXT, title=title, url=url)
    many = [Document(id="", text=f"Other {n}.", title="Other") for n in range(9)]
    for found in (seen.find(asked), seen.find_many([*many, asked])[-1]):
        assert (found is not None) == is_found
        assert found is None or (found.stage, found.number) == ("text", 1)
