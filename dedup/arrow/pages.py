"""Pages of markup: what each host repeats on its pages is learned first, then texts are taken."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from dedup.arrow.batches import GIVEN
from dedup.collection.columns import Fields
from dedup.collection.documents import page_document
from dedup.collection.rows import json_line
from dedup.collection.sites import PackedSample, learn_counts, pack_sample, site_of, url_order
from dedup.sites.counts import SiteCounts
from dedup.sites.site import Site
from dedup.store.records import storable
from dedup.urls.parts import host_of

PLACED = pa.schema([("host", pa.string()), ("url_order", pa.int64()), ("place", pa.int64())])
"""A page from which may be learned what its host repeats: of a host, from those of the lowest
`url_order`, and of one URL from the first."""

SAMPLED = pa.schema(
    [
        ("host", pa.string()),
        ("url_order", pa.int64()),
        ("title", pa.string()),
        ("url", pa.string()),
        ("outline", pa.binary()),
    ]
)

LEARNED = pa.schema([("host", pa.string()), ("counts", pa.binary())])

EXTRACTED = pa.schema(
    [("place", pa.int64()), *list(GIVEN)[1:], ("value", pa.string()), ("reason", pa.string())]
)
"""`reason`: why the page is not a document. `value`: the line of a page of a web archive."""

_LOWEST = 2**63


def placed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Compute by what pages, `place` and `url`, are chosen."""
    for batch in batches:
        urls = batch.column("url").to_pylist()
        arrays = [
            pa.array([host_of(url) for url in urls], pa.string()),
            pa.array([url_order(url) - _LOWEST for url in urls], pa.int64()),
            batch.column("place"),
        ]
        yield pa.record_batch(arrays, schema=PLACED)


def sampled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Take the outlines of the pages that are learned from: `html`, `url` and `title`."""
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            found = pack_sample(row["html"], row["url"], row["title"] or "")
            if found is not None:
                host, order = host_of(row["url"]), url_order(row["url"]) - _LOWEST
                rows.append({"host": host, "url_order": order, **found._asdict()})
        yield pa.RecordBatch.from_pylist(rows, SAMPLED)


def learned(pages: pa.Table) -> pa.Table:
    """Learn what a host repeats from its pages, `SAMPLED`."""
    rows = pages.sort_by("url_order").to_pylist()
    counts = learn_counts(
        PackedSample(storable(row["title"]), row["url"], row["outline"]).unpack() for row in rows
    )
    return pa.Table.from_pylist([{"host": rows[0]["host"], "counts": counts.to_bytes()}], LEARNED)


def sites_of(rows: Iterable[tuple[str, bytes]]) -> dict[str, Site]:
    """The hosts of which something was learned, from what is `LEARNED`."""
    found = ((host, site_of(SiteCounts.from_bytes(counts))) for host, counts in rows)
    return {host: site for host, site in found if site}


def extracted(
    batches: Iterator[pa.RecordBatch], sites: Mapping[str, Site]
) -> Iterator[pa.RecordBatch]:
    """Take the texts out of pages: of what is `READ`, the rows that have markup."""
    for batch in batches:
        rows = [_text(row, sites) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, EXTRACTED)


def _text(row: dict[str, Any], sites: Mapping[str, Site]) -> dict[str, object]:
    fields = Fields(None, row["url"], row["title"] or "", None, row["html"])
    try:
        document = page_document("", fields, sites)
    except (ValueError, RecursionError) as error:
        return {"place": row["place"], "reason": str(error)}
    value = None
    if row["body"] is not None:
        said = {"title": document.title, "text": document.text}
        value = json_line({**json.loads(row["value"]), **said}).decode().rstrip("\n")
    return {
        "place": row["place"],
        "text": storable(document.text),
        "url": row["url"],
        "title": storable(document.title),
        "group": row["group"],
        "heading": storable(document.heading),
        "own_title": storable(document.own_title),
        "source": document.source,
        "body": row["body"],
        "rest": None if document.rest is None else document.rest.to_bytes(),
        "value": value,
    }
