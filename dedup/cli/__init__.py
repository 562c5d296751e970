"""`dedup`: the command line of the library, and of jobs that have been crawled."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from dedup.cli import eval as evaluation
from dedup.cli import export, pair, report, retry, run, stats, why
from dedup.errors import StateError
from dedup.terminal.plain import plain

_COMMANDS = (run, evaluation, stats, report, why, pair, export, retry)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status: 0, or 2 with one sentence on standard error."""
    parser = argparse.ArgumentParser(prog="dedup", description="Find and drop duplicate documents.")
    parser.add_argument("--version", action="version", version=f"dedup {version('scrapy-dedup')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_parser(commands)
    options = parser.parse_args(arguments)
    try:
        options.execute(options)
    except (StateError, ValueError, OSError, ModuleNotFoundError) as error:
        print(f"dedup: {plain(error, lines=True)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0
