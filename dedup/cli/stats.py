"""`dedup stats JOB [OTHER]`: a job's counts, in total or by host, stage or URL pattern."""

import argparse
import time
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from dedup.cli.arguments import add_job, add_json
from dedup.cli.console import output_console
from dedup.report.breakdown import BY, account_rows, compare_rows, rows_table
from dedup.store import job_place, open_store, summarise
from dedup.store.postgresql import without_password
from dedup.terminal.plain import plain, plain_json
from dedup.terminal.summary_table import summary_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Show the counts of a job, running or not, or compare two jobs."
    add_job(parser)
    parser.add_argument(
        "other", type=job_place, nargs="?", metavar="OTHER", help="another job to compare with"
    )
    parser.add_argument(
        "--by",
        choices=list(BY),
        help="one row per host, stage or URL pattern, with the setting that avoids it",
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> None:
    found = _read(options.job, options.by)
    console = output_console()
    if options.other is not None:
        _compare(options, found, _read(options.other, options.by))
    elif options.json:
        print(plain_json(found))
    elif options.by is None:
        job = options.job if isinstance(options.job, Path) else _shown(options.job)
        console.print(summary_table(found, job), soft_wrap=True)
        if found.get("workers"):
            console.print(_workers_table(found["workers"]))
    else:
        console.print(rows_table(found))


def _workers_table(workers: list[dict[str, Any]]) -> Table:
    """The processes that share a job."""
    table = Table("worker", "hosts", "pages", "pages/s", "seen, s ago", "behind", box=None)
    now = time.time()
    for each in workers:
        seconds = max(each["seen_at"] - each["started_at"], 1e-9)
        rate = f"{each['pages'] / seconds:.1f}"
        numbers = each["hosts"], each["pages"], rate, round(now - each["seen_at"]), each["behind"]
        table.add_row(Text(plain(each["name"])), *map(str, numbers))
    return table


def _read(job: Path | str, by: str | None) -> Any:
    with open_store(job, read_only=True) as store:
        if by is not None:
            return BY[by](store)
        found = summarise(store)
        if store.meta("collection") is not None:
            return {**found, "collection": True}
        workers = [each._asdict() for each in store.stats.workers()]
        return {**found, **({"workers": workers} if workers else {})}


def _compare(options: argparse.Namespace, first: Any, second: Any) -> None:
    if options.by is None:
        first, second = account_rows(first), account_rows(second)
    columns = {None: "pages", "host": "fetched"}
    column = columns.get(options.by, "duplicates")
    rows = compare_rows(first, second, column)
    jobs = options.job, options.other
    if options.json:
        print(plain_json({"jobs": list(map(_shown, jobs)), "column": column, "rows": rows}))
        return
    short = [job.name if isinstance(job, Path) else job.rpartition("#")[2] for job in jobs]
    names = short if short[0] != short[1] else list(map(_shown, jobs))
    headings = {"first": f"{names[0]}, {column}", "second": f"{names[1]}, {column}"}
    output_console().print(rows_table(rows, headings=headings))


def _shown(job: Path | str) -> str:
    return without_password(str(job))
