"""`dedup retry JOB`: requeue failed URLs, to be fetched when the job resumes."""

import argparse

from dedup.cli.arguments import add_job
from dedup.cli.console import ERRORS
from dedup.store import open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_job(parser)
    parser.add_argument(
        "--reason",
        action="append",
        default=[],
        metavar="REASON",
        help="only URLs with this reason, as shown by `dedup stats`, such as http_404; may be"
        " repeated (default: all whose failure may be temporary)",
    )


def execute(options: argparse.Namespace) -> None:
    with open_store(options.job, must_exist=True) as store:
        queued = store.urls.queue_failed(options.reason)
        queued += store.learned.rendering.turn_over_failed(options.reason)
    if queued:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(queued.items()))
        ERRORS.print(
            f"{queued.total():,} URLs requeued ({reasons}); rerun the crawl to fetch them",
            soft_wrap=True,
        )
    else:
        ERRORS.print("No failed URLs to retry")
