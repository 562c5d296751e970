"""Pages of markup: what each host repeats on its pages is learned first, then texts are taken."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from dedup.arrow.batches import GIVEN
from dedup.collection.columns import Fields
from dedup.collection.documents import page_document
from dedup.collection.sites import PackedSample, learn_site, pack_sample, url_order
from dedup.collection.writing import json_line
from dedup.templates.site import Site
from dedup.templates.template import Template
from dedup.urls.parts import host_of

PLACED = pa.schema([("host", pa.string()), ("url_order", pa.int64()), ("place", pa.int64())])
"""A page of which its host's templates may be learned; of those of a host, those of the lowest
`url_order` are, and of one URL the first."""

SAMPLED = pa.schema(
    [
        ("host", pa.string()),
        ("url_order", pa.int64()),
        ("title", pa.string()),
        ("outline", pa.binary()),
    ]
)

LEARNED = pa.schema([("host", pa.string()), ("templates", pa.string())])

EXTRACTED = pa.schema(
    [("place", pa.int64()), *list(GIVEN)[1:], ("value", pa.string()), ("reason", pa.string())]
)
"""`reason`: why the page is no document. `value`: of a page of a web archive, its line."""

_LOWEST = 2**63


def placed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tell of pages, `place` and `url`, by what they are chosen."""
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
    """Learn the templates of a host from its pages, `SAMPLED`."""
    rows = pages.sort_by("url_order").to_pylist()
    site = learn_site(PackedSample(_whole(row["title"]), row["outline"]).unpack() for row in rows)
    templates = json.dumps([template.to_json() for template in site.templates])
    found = [{"host": rows[0]["host"], "templates": templates}] if site.templates else []
    return pa.Table.from_pylist(found, LEARNED)


def sites_of(rows: Iterable[tuple[str, str]]) -> dict[str, Site]:
    """The hosts of which something was learned, from what is `LEARNED`."""
    return {
        host: Site([Template.from_json(each) for each in json.loads(templates)])
        for host, templates in rows
    }


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
        "text": _whole(document.text),
        "url": row["url"],
        "title": _whole(document.title),
        "group": row["group"],
        "heading": _whole(document.heading),
        "own_title": None if document.own_title is None else _whole(document.own_title),
        "source": document.source,
        "body": row["body"],
        "value": value,
    }


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
