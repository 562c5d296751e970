"""`dedup`: the command line for crawls, for collections, and for crawled jobs."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from dedup.errors import StateError
from dedup.terminal.plain import plain

COMMANDS = {
    "crawl": "crawl sites, and keep one copy of each page",
    "demo": "crawl a small site that ships with this program",
    "run": "deduplicate files: JSON Lines, CSV, Parquet or WARC",
    "stats": "show a job's counts, running or not, or compare two jobs",
    "changes": "list what has changed on a job's pages since an earlier visit",
    "groups": "list pages that are on several hosts, and guess who was first",
    "report": "write the HTML report of a job, running or not",
    "seen": "tell whether jobs have a page already, by its URL or its content",
    "serve": "answer over HTTP whether jobs have a page already",
    "why": "explain what happened to a page, and why",
    "pair": "explain why two pages match or not",
    "export": "export a job's unique pages and duplicates",
    "mcp": "let language models search jobs, and read their pages",
    "retry": "requeue a job's failed URLs",
    "copy": "copy a job into PostgreSQL",
}
"""The help of each command. Its module has the same name and is imported when it is called."""

_FIRST = """\
dedup keeps each page and each document once.

  dedup demo                               crawl a small site of this machine
  dedup crawl https://… -o pages.jsonl     crawl a site
  dedup run FILE… -o unique.jsonl          deduplicate files
  dedup --help                             all commands
"""
"""Shown without arguments."""

_QUIETER = ("crawl", "demo", "run", "changes", "groups", "report", "export", "retry", "copy")
"""Commands that write something, and tell what: with --quiet they do not."""

_ENDED_BY_SIGPIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, or 2 with a message on standard error.

    It is 1 if the command has no answer, and 141 if the reader of its output has closed the pipe.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy starts them; nothing here uses them
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given:
        print(_FIRST, end="")
        return 0
    options = _parser(given).parse_args(given)
    if hasattr(options, "quiet"):
        from dedup.cli.console import ERRORS

        ERRORS.quiet = options.quiet
    try:
        with _checking_jobs(options):
            status = options.execute(options) or 0
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has ended, for example `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _ENDED_BY_SIGPIPE
    except (StateError, ValueError, OSError, ImportError) as error:
        more = ""
        if isinstance(error, StateError):
            from dedup.cli.mistakes import known_jobs

            more = known_jobs(error)
        print(f"dedup: {plain(f'{error}{more}', lines=True)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


@contextmanager
def _checking_jobs(options: argparse.Namespace) -> Iterator[None]:
    """After an unexpected error, report a damaged job file, which may be its cause."""
    try:
        yield
    except (StateError, OSError, ImportError):
        raise
    except Exception as error:
        from dedup.store.opening import check_values  # imports all of the stores

        given = [getattr(options, name, None) for name in ("job", "other")]
        if not isinstance(error, ValueError):  # else it is a bad option
            given += [each for each in getattr(options, "against", ()) if Path(each).is_dir()]
        for job in given:
            if job:
                check_values(job)
        raise


def _complete() -> None:
    """Answer a shell that asks for completions, and end."""
    import argcomplete
    from argcomplete.lexers import split_line

    words = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3]
    argcomplete.autocomplete(_parser(words[1:]))


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # takes longer than the rest of the parser

        print(f"dedup {version('scrapy-dedup')}")
        parser.exit()


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """A parser with the arguments of the requested command, and the names of the others."""
    parser = argparse.ArgumentParser(prog="dedup", description="Find and drop duplicate documents.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    asked = next((each for each in arguments if not each.startswith("-")), None)
    if asked is not None and asked not in COMMANDS:
        from dedup.cli.mistakes import unknown_command

        parser.error(unknown_command(asked, list(COMMANDS)))
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        if name == asked:
            module = import_module(f"dedup.cli.{name}")
            module.add_arguments(command)
            if name in _QUIETER:
                command.add_argument("--quiet", action="store_true", help="print errors only")
            command.set_defaults(execute=module.execute)
    return parser
