"""Exports tell which pages were rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedup.cli.explained import origin_text
from dedup.explain.origin import text_origin
from dedup.export.rows import page_rows
from dedup.export.warc import write_warc
from dedup.rendering.record import HowRead
from dedup.store import Page, open_store

archives = pytest.importorskip("warcio.archiveiterator")

_DOM = b"<body><p>What scripts made.</body>"


def test_rendered_pages_are_marked(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for name in ("made", "sent", "before"):
            store.add(Page("", "A text.", url=f"http://a.example/{name}", body=_DOM), {})
        for name, is_rendered in (("made", True), ("sent", False)):
            why, seconds = ("shell", 1.5) if is_rendered else ("static", 0.0)
            url = f"http://a.example/{name}"
            store.learned.rendering.note(
                HowRead("a.example", url, 0, "full", is_rendered, why, seconds)
            )
        names = ("rendered", "rendered_why", "rendering_seconds")
        assert [tuple(row.values()) for row in page_rows(store, names)] == [
            (True, "shell", 1.5),
            (False, "static", 0.0),
            (False, None, None),
        ]
        for _ in write_warc(tmp_path / "pages.warc", store):
            pass
        origin = text_origin(store, store.page(1))
    assert "rendered, in 1.5 s: its text is made by scripts" in origin_text(origin).plain
    with (tmp_path / "pages.warc").open("rb") as file:
        kinds = {
            record.rec_headers["WARC-Target-URI"]: (record.rec_type, record.content_type)
            for record in archives.ArchiveIterator(file)
        }
    assert kinds["http://a.example/made"] == ("resource", "text/html; charset=utf-8")
    assert kinds["http://a.example/sent"][0] == "response"
