"""`dedup retry JOB`: failed URLs are fetched again when the job goes on."""

import argparse

from dedup.cli.commands import Commands
from dedup.cli.console import JOB_HELP
from dedup.store import job_place, open_store


def add_parser(commands: Commands, text: str) -> None:
    """Add the command's parser, with its help in the list of commands."""
    parser = commands.add_parser("retry", help=text)
    parser.add_argument("job", type=job_place, metavar="JOB", help=JOB_HELP)
    parser.add_argument(
        "--reason",
        action="append",
        default=[],
        metavar="REASON",
        help="only URLs with this reason, as shown by `dedup stats`, such as http_404; may be"
        " repeated (default: all whose failure may be temporary)",
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    with open_store(options.job, must_exist=True) as store:
        queued = store.urls.queue_failed(options.reason)
    if queued:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(queued.items()))
        print(f"{queued.total():,} URLs requeued ({reasons}); rerun the crawl to fetch them")
    else:
        print("No failed URL is worth another try")
