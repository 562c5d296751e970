"""`dedup export JOB`: unique pages and duplicate records, in a format given by the extension."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dedup.cli.arguments import add_job
from dedup.cli.console import ERRORS
from dedup.cli.export_folders import (
    DATASET,
    FOLDERS,
    add_folder_arguments,
    check_partition,
    write_folder,
)
from dedup.cli.export_pieces import add_piece_arguments, asks_for_pieces, export_pieces
from dedup.cli.export_repeated import add_repeated_argument, left_out, told
from dedup.cli.progress import counting, showing_progress
from dedup.cli.targets import Target, check_targets, target, written
from dedup.collection.formats import ENDINGS, format_to_write
from dedup.explain.failures import failed_urls
from dedup.export import (
    DUPLICATES,
    FAILED,
    WithoutRepeated,
    duplicate_rows,
    failed_rows,
    page_columns,
    page_rows,
    write_table,
    write_wacz,
    write_warc,
)
from dedup.export.preferences import only_allowed
from dedup.fields.registry import FIELDS, checked
from dedup.preferences.uses import REFUSED_BY
from dedup.store import JobStore, job_file, open_store
from dedup.store.export_columns import EXPORTED_FIELDS
from dedup.store.records import storable
from dedup.store.selection import Selection
from dedup.terminal.plain import plain

_REASONS = 10
_TABLES = "pages", "duplicates"
_ARCHIVES = {"warc": write_warc, "wacz": write_wacz}
PACKAGES = (".wacz",)
"""Endings of formats that are of exports alone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Export a job's unique pages and duplicate records. A running job is exported in its"
        " current state."
    )
    parser.epilog = (
        f"Formats, by extension: {', '.join([*ENDINGS, *PACKAGES])}. With -o alone, a WARC or WACZ"
        " file holds the pages and, as revisit records, the duplicates. Files and folders may be"
        " addresses, such as s3://bucket/x.parquet, that fsspec knows."
    )
    add_job(parser)
    parser.add_argument(
        "-o",
        dest="pages",
        type=target,
        metavar="PAGES",
        help="output file for pages (default if -d is not given either: JOB/pages.jsonl; for a"
        " job in a database: NAME-pages.jsonl)",
    )
    parser.add_argument(
        "-d",
        dest="duplicates",
        type=target,
        metavar="DUPLICATES",
        help="output file for duplicates (default if -o is not given either:"
        " JOB/duplicates.jsonl, or NAME-duplicates.jsonl)",
    )
    parser.add_argument(
        "--failed",
        type=target,
        metavar="FILE",
        help="output file for failed URLs: status, cause, remedy, and the stored pages that link"
        " to each (up to 10; none if DEDUP_STORE_BODIES is off)",
    )
    parser.add_argument(
        "--fields",
        metavar="NAME[,NAME…]",
        help="columns of the pages, in this order (default: those of a feed), of"
        f" {', '.join(FIELDS)}; see docs/export.md",
    )
    add_repeated_argument(parser)
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    add_folder_arguments(parser)
    add_piece_arguments(parser)
    add_filters(parser)


def add_filters(parser: Any) -> None:
    group = parser.add_argument_group("filters")
    group.add_argument(
        "--host",
        action="append",
        default=[],
        help="only this host, with its port if the URL has one",
    )
    group.add_argument(
        "--stage",
        action="append",
        default=[],
        help="duplicates found at this stage, and their originals",
    )
    group.add_argument(
        "--since", metavar="TIME", help="fetched since 2026-11-21, or 2026-11-21T14:30 (UTC)"
    )
    group.add_argument("--url", metavar="REGEX", help="only URLs that match this")
    group.add_argument(
        "--only-allowed",
        choices=list(REFUSED_BY),
        help="leave out pages for which they or their host declare that they are not to be used for"
        " this, and duplicates of these; what is not declared is not refused",
    )


def selection(options: argparse.Namespace) -> Selection:
    """The filters.

    Raises:
        ValueError: a time or a regular expression is invalid.
    """
    return Selection(
        hosts=tuple(storable(host.lower()) for host in options.host),
        stages=tuple(options.stage),
        since=None if options.since is None else _time(options.since),
        url=None if options.url is None else _pattern(options.url),
    )


def _leaving_out(options: argparse.Namespace) -> list[str]:
    """The given options that leave out pages or passages, as on the command line."""
    names = "host", "stage", "since", "url", "only_allowed", "without_repeated"
    given = ((name.replace("_", "-"), getattr(options, name)) for name in names)
    return [
        shlex.quote(f"--{name}={value}")
        for name, values in given
        for value in (values if isinstance(values, list) else [values])
        if value is not None
    ]


def execute(options: argparse.Namespace) -> None:
    if asks_for_pieces(options):
        chosen = selection(options)
        with open_store(options.job, read_only=True) as store:
            _check_selection(store, chosen)
            export_pieces(store, options, _allowed(store, chosen, options.only_allowed))
        return
    # By default pages and duplicates go to the job's folder; else only to the named files.
    is_default = options.pages is options.duplicates is options.failed is options.dataset is None
    pages, duplicates = options.pages, options.duplicates
    if is_default:
        pages, duplicates = (job_file(options.job, f"{name}.jsonl") for name in _TABLES)
    named = {"-o": pages, "-d": duplicates, "--failed": options.failed}
    outputs = {option: path for option, path in named.items() if path is not None}
    formats = {path: format_to_write(path, also=PACKAGES) for path in outputs.values()}
    if formats.get(options.failed) in _ARCHIVES:
        raise ValueError(f"--failed cannot be a web archive, got {options.failed}")
    if formats.get(duplicates) == "wacz":
        raise ValueError(f"-d cannot be a WACZ file, which is made of pages, got {duplicates}")
    check_partition(options.partition, options.pages, formats.get(pages))
    folders = {"-o"} if options.partition else set()
    if options.partition:
        formats[pages] = options.partition
    if options.dataset is not None:
        outputs["--dataset"], formats[options.dataset] = options.dataset, DATASET
        folders.add("--dataset")
    is_own = is_default and isinstance(options.job, Path)  # files of the job's folder
    check_targets(outputs, {}, overwrite=options.overwrite or is_own, folders=folders)
    chosen = selection(options)
    kind_of_pages = formats.get(pages) or formats.get(options.dataset)
    fields = _fields(options.fields, kind_of_pages)
    if options.without_repeated is not None:
        _check_texts("--without-repeated changes texts", kind_of_pages)
    with open_store(options.job, read_only=True) as store:
        _check_selection(store, chosen)
        chosen = _allowed(store, chosen, options.only_allowed)
        for path, tables in (
            (pages, ("pages", "duplicates") if duplicates is None else ("pages",)),
            (options.dataset, ("pages",)),
            (duplicates, ("duplicates",)),
        ):
            if path is not None:
                _write(path, formats[path], store, chosen, tables, fields, options)
        if options.failed is not None:
            failed = failed_urls(store)
            with written(options.failed) as path:
                write_table(path, failed_rows(failed), FAILED)
            ERRORS.print(f"{len(failed):,} failed URLs in {options.failed}")


def _write(
    where: Target,
    found: str,
    store: JobStore,
    chosen: Selection,
    tables: tuple[str, ...],
    fields: Sequence[str],
    options: argparse.Namespace,
) -> None:
    tables = tables if found in _ARCHIVES else tables[:1]
    totals = {table: store.exports.count(table, chosen) for table in tables}
    if found != "warc" and "duplicates" in totals:
        totals["duplicates"] += store.exports.count("earlier", chosen)
    change = None
    if tables == ("pages",):
        change = left_out(store, options.without_repeated, chosen)
    what = " and ".join(tables)
    with showing_progress(what, sum(totals.values()), counting(what)) as show:

        def counted(rows: Iterable[Any]) -> Iterable[Any]:
            for done, row in enumerate(rows, 1):
                yield row
                show(done)

        if found in FOLDERS:
            write_folder(
                where, found, store, chosen, fields, counted, change, _leaving_out(options)
            )
        else:
            with written(where) as path:
                _write_file(path, found, store, chosen, tables, fields, change, counted)
    counts = " and ".join(f"{count:,} {table}" for table, count in totals.items())
    ERRORS.print(f"{counts} in {where}{told(change)}")


def _write_file(
    path: Path,
    found: str,
    store: JobStore,
    chosen: Selection,
    tables: tuple[str, ...],
    fields: Sequence[str],
    change: WithoutRepeated | None,
    counted: Callable[[Iterable[Any]], Iterable[Any]],
) -> None:
    if found in _ARCHIVES:
        for _ in counted(_ARCHIVES[found](path, store, chosen, tables=tables)):
            pass
    elif tables == ("pages",):
        write_table(
            path, counted(page_rows(store, fields, chosen, change=change)), page_columns(fields)
        )
    else:
        write_table(path, counted(duplicate_rows(store, chosen)), DUPLICATES)


def _fields(given: str | None, found: str | None) -> Sequence[str]:
    """The names of the columns of the pages, which go to a file of the format `found`.

    Raises:
        ValueError: a name is of no field, or there are no columns.
        ModuleNotFoundError: a field needs a package that is not installed.
    """
    if given is None:
        return EXPORTED_FIELDS
    _check_texts("--fields are columns", found)
    return checked(given.split(","), of="--fields")


def _check_texts(what: str, found: str | None) -> None:
    if found is None or found in _ARCHIVES:
        where = "a web archive" if found else "no file (-o)"
        raise ValueError(f"{what} of the pages, which go to {where}")


def _allowed(store: JobStore, chosen: Selection, use: str | None) -> Selection:
    """The selection without pages that a declaration refuses for a use; it is told how many."""
    if use is None:
        return chosen
    found = only_allowed(store, use, chosen)
    refused = found.refused.most_common(_REASONS)
    reasons = [f"{plain(name)} ({count:,})" for name, count in refused]
    reasons += ["…"] * (len(found.refused) > _REASONS)
    why = f": {', '.join(reasons)}" if reasons else ""
    unreadable = (
        f"; for {found.unreadable:,} a declaration is not readable" if found.unreadable else ""
    )
    ERRORS.print(
        f"--only-allowed {use}: {len(found.selection.without):,} of {found.pages:,} pages left"
        f" out{why}; for {found.pages - found.declaring:,} nothing is declared{unreadable}",
        markup=False,
        soft_wrap=True,
    )
    return found.selection


def _check_selection(store: JobStore, chosen: Selection) -> None:
    """Refuse stages that the job does not have, and tell hosts without pages."""
    for host in chosen.hosts:
        if not any(store.exports.count(table, Selection(hosts=(host,))) for table in _TABLES):
            ERRORS.print(
                f"--host {plain(host)}: the job has no page of it; hosts have the port of their"
                " URLs, if any",
                soft_wrap=True,
                markup=False,
            )
    schemes = store.schemes()
    for stage in chosen.stages:
        if stage not in schemes:
            known = ", ".join(schemes) or "none yet"
            raise ValueError(f"--stage must be one of this job's stages ({known}), got {stage!r}")


def _time(text: str) -> float:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"--since must be an ISO 8601 date or time, got {text!r}") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"--url must be a regular expression, got {text!r} ({error})") from None
