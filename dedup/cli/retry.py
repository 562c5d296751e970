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
        help="these alone, by the reason that `dedup stats` tells, such as http_404; may be"
        " repeated (default: all that another try may mend)",
    )
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    with open_store(options.job, must_exist=True) as store:
        queued = store.urls.queue_failed(options.reason)
    if queued:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(queued.items()))
        print(f"{queued.total():,} URLs queued again ({reasons}): the crawl's command fetches them")
    else:
        print("No URL failed in a way that another try may mend")
