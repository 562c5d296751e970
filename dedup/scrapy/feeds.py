"""Feeds of a resumed job: JSON Lines files get each stored page once.

Scrapy would overwrite the feed (`-O`), or repeat and miss pages in it (`-o`), as a killed process
may have written fewer or more pages to the feed than to its store. So before a job is resumed, its
feed is completed from the store; then the crawl appends to it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from scrapy.exporters import JsonLinesItemExporter
from scrapy.settings import BaseSettings

from dedup.export import page_rows
from dedup.fields.registry import FIELDS
from dedup.files import replacing
from dedup.scrapy.config import CrawlConfig
from dedup.store import JobStore

logger = logging.getLogger(__name__)

_FORMATS = {"jsonl", "jsonlines", "jl"}


def continue_feeds(settings: BaseSettings, store: JobStore) -> None:
    """Complete the feeds of `settings` from the store, and make the crawl append to them.

    Feeds in other formats or places than local files, or with other fields than those of a stored
    page, do not change; a warning says how to get such a file.
    """
    feeds = dict(settings.getdict("FEEDS"))
    for uri, options in feeds.items():
        path = _local_path(str(uri))
        fields = _fields(options, settings)
        if path is None or not _is_supported(options, fields):
            logger.warning(
                "The feed %s gets only the pages of this run. For all pages: dedup export %s",
                uri,
                store.job,
            )
            continue
        _complete(path, _rows(store, fields, settings), _exporter(options, settings), store)
        feeds[uri] = {**options, "overwrite": False}
    settings.set("FEEDS", feeds, "cmdline")


def check_feeds(settings: BaseSettings, *, is_ours: bool) -> None:
    """Check that the feeds can be written from the store, as where several processes crawl.

    Args:
        settings: have the feeds.
        is_ours: are the items those of this project's own spiders? Others are not in the store.

    Raises:
        ValueError: a feed cannot.
    """
    for uri, options in settings.getdict("FEEDS").items():
        fields = _fields(options, settings)
        if not is_ours or _local_path(str(uri)) is None or not _is_supported(options, fields):
            reason = "is not JSON Lines in a local file, with fields of a page"
            if not is_ours:
                reason = "has items of this spider, which are not in the job's store"
            raise ValueError(
                f"DEDUP_PROCESSES must be 1 for the feed {uri}, which several processes cannot"
                f" write, as it {reason}"
            )


def write_feeds(settings: BaseSettings, store: JobStore, *, is_new: bool) -> None:
    """Write the feeds that `check_feeds` allows.

    Args:
        settings: have the feeds.
        store: of the job.
        is_new: the job began with this crawl: what a feed had before is of others.
    """
    for uri, options in settings.getdict("FEEDS").items():
        path = _local_path(str(uri))
        assert path is not None  # noqa: S101 -- for the type checker
        is_kept = is_new and not options.get("overwrite")
        rows = _rows(store, _fields(options, settings), settings)
        exporter = _exporter(options, settings)
        _complete(path, rows, exporter, store, is_new=is_new, keep=is_kept)


def _fields(options: Mapping[str, Any], settings: BaseSettings) -> Any:
    """The fields of a feed; None: those of its items, whatever they are."""
    if "fields" in options:
        return options["fields"]
    fields = settings.getlist("FEED_EXPORT_FIELDS")
    added = CrawlConfig.from_settings(settings).page_fields
    return list(dict.fromkeys([*fields, *added])) if fields else None


def _exporter(options: Mapping[str, Any], settings: BaseSettings) -> Callable[[Any], Any]:
    encoding = options.get("encoding", settings["FEED_EXPORT_ENCODING"])
    fields = _fields(options, settings)
    return partial(JsonLinesItemExporter, fields_to_export=fields, encoding=encoding)


def _rows(store: JobStore, fields: list[str], settings: BaseSettings) -> Iterator[dict[str, Any]]:
    """The stored pages, as their items are.

    An item has the language that its page declares, unless the setting asks for more.
    """
    is_declared = "language" not in CrawlConfig.from_settings(settings).page_fields
    for page in page_rows(store, list(dict.fromkeys(["id", *fields, "declared_language"]))):
        yield {**page, "language": page["declared_language"]} if is_declared else page


def _local_path(uri: str) -> Path | None:
    path = uri.removeprefix("file://")
    return None if "://" in path or "%(" in path or path in {"-", "stdout:"} else Path(path)


def _is_supported(options: Mapping[str, Any], fields: Any) -> bool:
    return (
        options.get("format") in _FORMATS
        and isinstance(fields, list)
        and {"id", "url"} <= set(fields) <= set(FIELDS)
        and not options.get("postprocessing")
        and not options.get("item_filter")
    )


def _complete(
    path: Path,
    rows: Iterable[dict[str, Any]],
    exporter: Callable[[Any], Any],
    store: JobStore,
    *,
    is_new: bool = False,
    keep: bool = False,
) -> None:
    """Keep the lines of stored pages, each once, and add the pages that are missing.

    If `is_new`, what the file has is of other jobs; `keep` keeps that, too.
    """
    urls = store.exports.page_urls()
    file: Any
    with replacing(path) as part, part.open("wb") as file:
        if keep and path.exists():
            file.write(path.read_bytes())
        for line in () if is_new else _lines(path):
            number, url = _page_of(line)
            if number in urls and urls[number] == url:
                del urls[number]
                file.write(line)
        export = exporter(file).export_item
        for page in rows if urls else ():
            if page["id"] in urls:
                export(page)


def _lines(path: Path) -> list[bytes]:
    if not path.exists():
        return []
    with path.open("rb") as file:
        return [line for line in file if line.endswith(b"\n")]


def _page_of(line: bytes) -> tuple[Any, Any]:
    try:
        row = json.loads(line)
        return row["id"], row["url"]
    except (ValueError, KeyError, TypeError):
        return None, None
