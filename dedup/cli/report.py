"""`dedup report JOB`: a job's report, one HTML file."""

import argparse
from pathlib import Path

from dedup.cli.commands import Commands
from dedup.cli.console import ERRORS, JOB_HELP
from dedup.store import job_place


def add_parser(commands: Commands, text: str) -> None:
    """Add the command's parser, with its help in the list of commands."""
    parser = commands.add_parser("report", help=text)
    parser.add_argument("job", type=job_place, metavar="JOB", help=JOB_HELP)
    parser.add_argument(
        "-o",
        dest="path",
        type=Path,
        metavar="FILE",
        help="output file (default: JOB/report.html; for a job in a database: NAME-report.html)",
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    from dedup.report.page import write_report  # Jinja takes 40 ms, which others need not wait for

    path = write_report(options.job, options.path)
    ERRORS.print(f"{path} ({path.stat().st_size / 1e6:,.1f} MB)", soft_wrap=True)
