"""Arguments of several commands."""

import argparse
from typing import Any

from dedup.store import job_place

QUIET = {"DEDUP_PROGRESS": "off", "LOG_LEVEL": "ERROR"}
"""Settings of a crawl that prints errors only."""


def add_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "job",
        type=job_place,
        metavar="JOB",
        help="the job's folder, or postgresql://…/DATABASE#NAME",
    )


def add_json(parser: Any, what: str = "JSON output") -> None:
    """Add `--json` to a parser or a group."""
    parser.add_argument("--json", action="store_true", help=what)
