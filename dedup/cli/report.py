"""`dedup report JOB`: a job's report, one HTML file."""

import argparse
from pathlib import Path

from dedup.cli.arguments import add_job
from dedup.cli.console import ERRORS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument(
        "-o",
        dest="path",
        type=Path,
        metavar="FILE",
        help="output file (default: JOB/report.html; for a job in a database: NAME-report.html)",
    )


def execute(options: argparse.Namespace) -> None:
    from dedup.report.page import write_report  # Jinja takes 40 ms to import

    with ERRORS.status("Writing the report …"):
        path = write_report(options.job, options.path)
    ERRORS.print(f"{path} ({path.stat().st_size / 1e6:,.1f} MB)", soft_wrap=True)
