"""Single records of a job, with all that is known of them: stored pages and dropped ones."""

from typing import Any

from dedup.store.records import Page
from dedup.store.sqlite.store import SqliteStore

_COLUMNS = (
    "language",
    "canonical_url",
    "status",
    "content_type",
    "encoding",
    "fetched_at",
    "size_bytes",
    "depth",
    "etag",
    "last_modified",
    "heading",
    "own_title",
    "source",
    "template",
)


def read_page(store: SqliteStore, number: int) -> Page:
    """Return a stored page, its body too where that was kept.

    Raises:
        KeyError: there is no page of that number.
    """
    row = _row(store, "SELECT * FROM pages WHERE number = ?", number)
    body = row["body"]
    return Page(
        id=row["name"] or str(number),
        text=_text(store, number, row["text"]),
        url=row["url"],
        title=row["title"],
        body=None if body is None else store.unpacked(number, body, "body"),
        **{name: row[name] for name in _COLUMNS},
    )


def read_dropped(store: SqliteStore, number: int) -> Page:
    """Return a dropped page. Its body was not kept, unless it was the same as the original's.

    Raises:
        KeyError: there is no duplicate of that number.
    """
    row = _row(store, "SELECT * FROM duplicates WHERE number = ?", number)
    is_copy = row["text"] is None
    original = read_page(store, row["original"]) if is_copy else None
    return Page(
        id=row["name"] or str(number),
        text=_text(store, number, row["text"]) if original is None else original.text,
        url=row["url"],
        title=row["title"],
        body=None if original is None else original.body,
        fetched_at=row["fetched_at"],
        size_bytes=row["size_bytes"],
        heading=row["heading"],
        own_title=row["own_title"],
        source=row["source"],
        template=row["template"],
    )


def _row(store: SqliteStore, query: str, number: int) -> Any:
    for row in store.rows(query, [number]):
        return row
    raise KeyError(number)


def _text(store: SqliteStore, number: int, compressed: bytes) -> str:
    return store.unpacked(number, compressed).decode(errors="surrogatepass")
