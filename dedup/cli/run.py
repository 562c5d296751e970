"""`dedup run IN…`: deduplicate a collection that exists already."""

import argparse
from pathlib import Path
from typing import Any

from dedup.cli import run_spark
from dedup.cli.commands import Commands
from dedup.cli.running import CollectionRun, execute
from dedup.collection.columns import Columns
from dedup.collection.rules import Rules, read_keep, read_stages
from dedup.detectors import STAGES

_EPILOG = (
    "Formats, by the ending: .jsonl, .csv, .parquet, .warc; read compressed by gzip, zstd or xz,"
    " written with .gz or .zst. `-` is standard input or output. A file is there whole or not at"
    " all. Examples: docs/collections.md"
)


def add_parser(commands: Commands, text: str) -> None:
    """Add the command's parser, with its help in the list of commands."""
    parser = commands.add_parser(
        "run",
        help=text,
        description="Deduplicate a collection that exists already: one copy of each row stays.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "inputs", nargs="+", metavar="IN", help="a file, a glob, a folder, or - (standard input)"
    )
    parser.add_argument("-o", dest="unique", metavar="OUT", help="where the rows that stay go")
    parser.add_argument(
        "-d", dest="duplicates", metavar="DUPLICATES", help="what was dropped, and for what"
    )
    parser.add_argument(
        "--broken", metavar="FILE", help="where rows go that are no documents (.jsonl)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    _add_columns(parser.add_argument_group("columns"))
    _add_rules(parser.add_argument_group("rules"))
    group = parser.add_argument_group("running")
    group.add_argument(
        "--processes", default="auto", metavar="N", help="that compute signatures (default: auto)"
    )
    group.add_argument(
        "--job",
        metavar="DIR",
        help="keep the store in this folder: the same command goes on after an interruption, and"
        " `dedup why|pair|report|stats DIR` tell about it",
    )
    group.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="where: here (local), or on Spark, where IN, OUT and DUPLICATES are folders or files"
        " of any file system that it knows, and OUT and DUPLICATES are written as folders",
    )
    group.add_argument(
        "--master", metavar="URL", help="of the Spark cluster (default: Spark's own, or local[*])"
    )
    parser.set_defaults(execute=_execute)


def _add_columns(group: Any) -> None:
    for name, what in (
        ("text", "with the text"),
        ("html", "with the markup, where there is no text"),
        ("id", "that names the row"),
        ("url", "with the URL"),
        ("title", "with the title"),
    ):
        group.add_argument(f"--{name}", metavar="COLUMN", help=f"{what} (default: {name})")


def _add_rules(group: Any) -> None:
    group.add_argument(
        "--threshold",
        type=float,
        default=0.8,
        metavar="R",
        help="the resemblance from which on two rows are near duplicates (default: 0.8)",
    )
    group.add_argument(
        "--stages",
        default=",".join(STAGES),
        metavar="NAMES",
        help=f"of the cascade, those asked (default: {','.join(STAGES)})",
    )
    group.add_argument(
        "--within", metavar="COLUMN", help="compare only rows of the same value in this column"
    )
    group.add_argument(
        "--compare",
        metavar="COLUMNS",
        help="that count beside the text, such as price,sku: rows that differ in one of them are"
        " two (default: none, the text alone)",
    )
    group.add_argument(
        "--keep",
        default="first",
        metavar="WHICH",
        help="which row stays: first (default), longest, or newest:COLUMN",
    )
    group.add_argument(
        "--mark",
        action="store_true",
        help="drop nothing; add the columns duplicate_of, resemblance, stage and group",
    )
    group.add_argument(
        "--against",
        metavar="JOB_OR_FILE",
        help="drop also what an earlier job or collection has; it is only read",
    )


def _execute(options: argparse.Namespace) -> None:
    keep, newest = read_keep(options.keep)
    rules = Rules(
        threshold=options.threshold,
        stages=read_stages([each.strip() for each in options.stages.split(",") if each.strip()]),
        within=options.within,
        compare=_names(options.compare),
        keep=keep,
        newest=newest,
    )
    _check_given(options)
    if options.mark and options.unique is None:
        raise ValueError("--mark needs -o OUT, which the marked rows go to")
    run = CollectionRun(
        inputs=tuple(options.inputs),
        unique=options.unique,
        duplicates=options.duplicates,
        broken=options.broken,
        overwrite=options.overwrite,
        columns=_columns(options, rules),
        rules=rules,
        mark=options.mark,
        against=options.against,
        processes=_processes(options.processes),
        job=None if options.job is None else Path(options.job),
    )
    if options.engine == "spark":
        run_spark.execute_on_spark(run, options.master)
    elif options.master is not None:
        raise ValueError("--master needs --engine spark")
    else:
        execute(run)


def _names(given: str | None) -> tuple[str, ...]:
    names = tuple(each.strip() for each in given.split(",")) if given else ()
    if not all(names):
        raise ValueError(f"--compare must be names of columns, got {given!r}")
    return names


def _check_given(options: argparse.Namespace) -> None:
    """Refuse what is empty, as a variable of a shell may be: as a path it would be this folder."""
    names = {"unique": "-o", "duplicates": "-d", "inputs": "IN"}
    for name, given in vars(options).items():
        if given == "" or (name == "inputs" and "" in given):
            raise ValueError(f"{names.get(name, f'--{name}')} must not be empty")


def _columns(options: argparse.Namespace, rules: Rules) -> Columns:
    given = {
        name: getattr(options, name)
        for name in ("text", "html", "id", "url", "title")
        if getattr(options, name) is not None
    }
    return Columns(
        **given,
        compare=rules.compare,
        others=rules.others,
        required=frozenset([*given.values(), *rules.compare, *rules.others]),
    )


def _processes(given: str) -> int | None:
    if given == "auto":
        return None
    if not given.isdecimal() or not 1 <= int(given) <= 1024:
        raise ValueError(f"--processes must be auto or a whole number from 1 on, got {given!r}")
    return int(given)
