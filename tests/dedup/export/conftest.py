"""A job with a page, a copy of its bytes, a near duplicate, and a page whose body was not kept."""

from pathlib import Path

import pytest

from dedup import Deduplicator
from dedup.store import Page, SqliteStore

STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))
TEXTS = {"a": STORY, "b": STORY, "c": STORY + " Amen.", "d": "其他的內容。" * 20}


def page(name: str, text: str, **more: object) -> Page:
    body = f"<p>{text}</p>".encode()
    known: dict[str, object] = {
        "id": "",
        "url": f"http://{name}.example/{name}",
        "title": name,
        "text": text,
        "body": body,
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "fetched_at": 1_700_000_000.25 + len(name),
        "size_bytes": len(body),
    }
    return Page(**{**known, **more})  # type: ignore[arg-type]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    for name, text in TEXTS.items():
        deduplicator.process(page(name, text))
    store.keep_bodies = False
    strange = "=cmd|'/c calc'!A1 \x1b[31m"
    deduplicator.process(
        page("e", "Another text. " * 30 + "Unlike the others.", title=strange, url=None)
    )
    store.close()
    return tmp_path
