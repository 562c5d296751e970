"""The pieces of many pages together: each once, with all its places, and what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from dedup.collection.spool import SpoolStore
from dedup.deduplicator import Deduplicator
from dedup.document import Document
from dedup.pieces.runs import SortedRows

NOW, THEN = 1, 2
"""When a piece stands there; their sum: at both times."""


class Record(NamedTuple):
    """A piece in one of its places.

    Attributes:
        id: of the piece; if it was dropped as a near duplicate, of its original.
        is_dropped: was it dropped? Then 1.
        url: of the page; "" for one without a URL, and for a piece of which only the id is known.
        number: of the piece among those of the page, from 1 on.
        when: see `NOW`.
    """

    id: str
    is_dropped: int
    url: str
    number: int
    when: int
    headings: tuple[str, ...] = ()
    text: str = ""


def rows_of(records: Iterable[Record], *, with_changes: bool) -> Iterator[dict[str, Any]]:
    """Return a row for each piece.

    Args:
        records: ascending.
        with_changes: only pieces that stand there at one of two times, with a column `change`.
    """
    for name, found in groupby(records, attrgetter("id")):
        here = list(found)
        now = [each for each in here if each.when & NOW]
        row = {"id": name, **_content(now)}
        if not with_changes:
            yield row
        elif not now:
            yield {"change": "delete", **row}
        elif not any(each.when & THEN for each in here):
            yield {"change": "add", **row}


def _content(now: list[Record]) -> dict[str, Any]:
    if not now:
        return dict.fromkeys(("text", "headings", "places"))
    places = [{"url": each.url or None, "number": each.number} for each in now]
    return {"text": now[0].text, "headings": list(now[0].headings), "places": places}


def without_near(records: Iterable[Record], out: SortedRows, folder: Path) -> None:
    """Write records anew, those of near duplicates as places of their originals.

    The pieces are judged in the order of their ids, so it does not matter in which order pages were
    crawled; those of two times are judged apart. Records of which only the id is known stay.

    Args:
        records: ascending.
        out: where they are written.
        folder: of temporary files.
    """
    stores = {when: SpoolStore(folder) for when in (NOW, THEN)}
    judges = {when: Deduplicator(store=store) for when, store in stores.items()}
    try:
        for name, found in groupby(records, attrgetter("id")):
            here = list(found)
            for when, judge in judges.items():
                own = [each._replace(when=when) for each in here if each.when & when]
                original = _original(judge, name, own)
                for each in own:
                    out.add(tuple(each._replace(id=original, is_dropped=int(original != name))))
    finally:
        for store in stores.values():
            store.close()


def _original(judge: Deduplicator, name: str, records: list[Record]) -> str:
    if not records or not records[0].text:
        return name
    match = judge.process(Document(id=name, text=records[0].text)).match
    return name if match is None else judge.store.document(match.original).id
