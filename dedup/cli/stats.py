"""`dedup stats JOB [OTHER]`: a job's counts, in all or by host, stage or URL pattern."""

import argparse
from pathlib import Path
from typing import Any

from dedup.cli.commands import Commands
from dedup.cli.console import output_console
from dedup.report.breakdown import BY, account_rows, breakdown, compare_rows, rows_table
from dedup.store import open_store, summarise
from dedup.terminal.plain import plain_json
from dedup.terminal.summary_table import summary_table


def add_parser(commands: Commands, text: str) -> None:
    """Add the command's parser, with its help in the list of commands."""
    parser = commands.add_parser(
        "stats",
        help=text,
        description="Print the counts of a job, running or not; of two jobs beside each other.",
    )
    parser.add_argument("job", type=Path, metavar="JOB", help="the job's folder")
    parser.add_argument(
        "other", type=Path, nargs="?", metavar="OTHER", help="another job, to compare with"
    )
    parser.add_argument(
        "--by",
        choices=list(BY),
        help="a row for each host, stage, pattern of URLs, with the setting that avoids it, or URL"
        " rule that was learned",
    )
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    found = _read(options.job, options.by)
    console = output_console()
    if options.other is not None:
        _compare(options, found, _read(options.other, options.by))
    elif options.json:
        print(plain_json(found))
    elif options.by is None:
        console.print(summary_table(found, options.job), soft_wrap=True)
    else:
        console.print(rows_table(found))


def _read(job: Path, by: str | None) -> Any:
    with open_store(job, read_only=True) as store:
        return summarise(store) if by is None else breakdown(store, by)


def _compare(options: argparse.Namespace, first: Any, second: Any) -> None:
    if options.by is None:
        first, second = account_rows(first), account_rows(second)
    columns = {None: "pages", "host": "fetched", "rule": "pairs"}
    column = columns.get(options.by, "duplicates")
    rows = compare_rows(first, second, column)
    jobs = options.job, options.other
    if options.json:
        print(plain_json({"jobs": [str(job) for job in jobs], "column": column, "rows": rows}))
        return
    is_named = jobs[0].name != jobs[1].name
    names = [job.name if is_named else str(job) for job in jobs]
    headings = {"first": f"{names[0]}, {column}", "second": f"{names[1]}, {column}"}
    output_console().print(rows_table(rows, headings=headings))
