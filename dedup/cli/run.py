"""`dedup run IN…`: deduplicate a collection that exists already."""

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

from dedup.cli import run_spark
from dedup.cli.arguments import add_json
from dedup.cli.console import ERRORS
from dedup.cli.paths import check_paths
from dedup.cli.run_here import CollectionRun, execute_here
from dedup.collection.columns import Columns
from dedup.collection.rules import Rules, read_stages
from dedup.collection.writing.outputs import STANDARD_OUTPUT
from dedup.detectors import STAGES

_EPILOG = (
    "Formats, by extension: .jsonl, .csv, .tsv, .parquet, .warc; input may be compressed with gzip,"
    " zstd, xz or bzip2, output with .gz or .zst. A file of JSON may be one array. `-` is standard"
    " input or output. Files are written completely or not at all. Examples: docs/collections.md"
)

_COLUMNS = {
    "text": "column with the text",
    "html": "column with markup, used if there is no text",
    "id": "column with the row id",
    "url": "column with the URL",
    "title": "column with the title",
}

_PASSAGE_WORDS = 50
_EVALUATION_WORDS = 13
_MOST_WORDS = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Deduplicate an existing collection, keeping one copy of each row."
    parser.epilog = _EPILOG
    parser.add_argument(
        "inputs", nargs="+", metavar="IN", help="a file, a glob, a folder, or - (standard input)"
    )
    parser.add_argument("-o", dest="unique", metavar="OUT", help="output file for kept rows")
    parser.add_argument(
        "-d",
        dest="duplicates",
        metavar="DUPLICATES",
        help="output file for dropped rows, with their originals",
    )
    parser.add_argument(
        "--clusters",
        metavar="FILE",
        help="output file for one record a document, kept or not: its id, its group (the id of the"
        " kept row), its original, stage and resemblance",
    )
    parser.add_argument(
        "--broken",
        metavar="FILE",
        help="output file for broken rows and rows without text (.jsonl)",
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument(
        "--strict",
        action="store_const",
        const="0",
        dest="max_broken",
        help="a broken row, or one without text, is an error",
    )
    limit.add_argument(
        "--max-broken", metavar="N", help="more than N such rows are an error (default: any number)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    group = parser.add_argument_group("columns", "A path such as body.main names a nested field.")
    for name, what in _COLUMNS.items():
        group.add_argument(f"--{name}", metavar="COLUMN", help=f"{what} (default: {name})")
    group.add_argument(
        "--delimiter",
        metavar="C",
        help="what separates the cells of CSV (default: a comma; in .tsv, a tab)",
    )
    group.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of JSON, CSV and TSV, and of binary columns of Parquet that hold texts"
        " (default: UTF-8, and binary columns are no texts)",
    )
    _add_rules(parser.add_argument_group("rules"))
    _add_passages(parser.add_argument_group("passages"))
    group = parser.add_argument_group("running")
    group.add_argument(
        "--processes",
        default="auto",
        metavar="N",
        help="number of processes that compute signatures (default: auto)",
    )
    group.add_argument(
        "--job",
        metavar="DIR",
        help="keep the store in this folder, so that the same command resumes after an"
        " interruption and `dedup why|pair|report|stats DIR` work",
    )
    group.add_argument(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="run locally or on Spark; on Spark, IN, OUT and DUPLICATES may be on any file system"
        " it supports, and OUT and DUPLICATES are written as folders",
    )
    add_json(group, "print the closing counts as JSON to standard output")
    group.add_argument(
        "--master",
        metavar="URL",
        help="the Spark cluster (default: Spark's own setting, or local[*])",
    )


def _add_rules(group: Any) -> None:
    group.add_argument(
        "--threshold",
        type=float,
        default=0.8,
        metavar="R",
        help="minimum resemblance of near duplicates (default: 0.8)",
    )
    group.add_argument(
        "--stages",
        default=",".join(STAGES),
        metavar="NAMES",
        help=f"stages of the cascade to use (default: {','.join(STAGES)})",
    )
    group.add_argument(
        "--within", metavar="COLUMN", help="compare only rows with the same value in this column"
    )
    group.add_argument(
        "--compare",
        metavar="COLUMNS",
        help="also compare these columns, such as price,sku; rows that differ in one are not"
        " duplicates (default: none)",
    )
    group.add_argument(
        "--keep",
        default="first",
        metavar="WHICH",
        help="which row to keep: first (default), or longest, newest:COLUMN, highest:COLUMN,"
        " lowest:COLUMN, several in this order, such as longest,newest:date",
    )
    group.add_argument(
        "--mark",
        action="store_true",
        help="drop nothing, rows without text neither, but add the columns duplicate_of,"
        " resemblance, stage and group",
    )
    group.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="JOB_OR_FILE",
        help="also drop rows found in an earlier job or collection, which is only read; may be"
        " given several times",
    )


def _add_passages(group: Any) -> None:
    group.add_argument(
        "--passages",
        nargs="?",
        const=_PASSAGE_WORDS,
        type=_words,
        metavar="N",
        help="cut runs of N words (characters of Chinese; default: 50) or more that stand in an"
        " earlier row or place, too; with --mark, list them in the column passages",
    )
    group.add_argument(
        "--contains",
        action="append",
        default=[],
        metavar="EVAL",
        help="drop rows that hold a passage of an evaluation set, a file or a job; may be given"
        " several times",
    )
    group.add_argument(
        "--contains-words",
        type=_words,
        metavar="N",
        help=f"words (characters of Chinese) of such a passage (default: {_EVALUATION_WORDS})",
    )


def _words(given: str) -> int:
    """A number of words; anything else may be an IN right after the option."""
    if not given.isdecimal() or not 2 <= int(given) <= _MOST_WORDS:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from 2 to {_MOST_WORDS:,}, got {given!r}; write IN before"
            " the option, or the number after it"
        )
    return int(given)


def execute(options: argparse.Namespace) -> None:
    rules = Rules(
        threshold=options.threshold,
        stages=read_stages([each.strip() for each in options.stages.split(",") if each.strip()]),
        within=options.within,
        compare=_names(options.compare),
        keep=options.keep,
    )
    _check_given(options)
    if options.mark and options.unique is None:
        raise ValueError("--mark needs -o OUT for the marked rows")
    if options.contains_words is not None and not options.contains:
        raise ValueError("--contains-words needs --contains EVAL")
    run = CollectionRun(
        inputs=tuple(options.inputs),
        unique=options.unique,
        duplicates=options.duplicates,
        clusters=options.clusters,
        broken=options.broken,
        overwrite=options.overwrite,
        columns=_columns(options, rules),
        rules=rules,
        mark=options.mark,
        against=tuple(options.against),
        passages=options.passages,
        contains=tuple(options.contains),
        contains_words=options.contains_words or _EVALUATION_WORDS,
        processes=_processes(options.processes),
        job=None if options.job is None else Path(options.job),
        max_broken=_max_broken(options.max_broken),
        json=options.json,
    )
    if run.json and STANDARD_OUTPUT in run.outputs.values():
        raise ValueError("--json writes to standard output, and so does an output named -")
    if options.engine == "spark":
        run_spark.execute_on_spark(run, options.master)
    elif options.master is not None:
        raise ValueError("--master needs --engine spark")
    else:
        check_paths({"--job": options.job})
        execute_here(run)
    if not run.outputs and run.job is None:
        ERRORS.print("no file was written: -o OUT writes the rows that stay", soft_wrap=True)


def _names(given: str | None) -> tuple[str, ...]:
    names = tuple(each.strip() for each in given.split(",")) if given else ()
    if not all(names):
        raise ValueError(f"--compare must be column names, got {given!r}")
    return names


def _check_given(options: argparse.Namespace) -> None:
    """Refuse empty values, as from an unset shell variable: an empty path means this folder."""
    names = {"unique": "-o", "duplicates": "-d", "inputs": "IN"}
    for name, given in vars(options).items():
        if given == "" or (isinstance(given, list) and "" in given):
            raise ValueError(f"{names.get(name, f'--{name}')} must not be empty")


def _columns(options: argparse.Namespace, rules: Rules) -> Columns:
    found = vars(options)
    given = {name: found[name] for name in _COLUMNS if found[name] is not None}
    return Columns(
        **given,
        compare=rules.compare,
        others=rules.others,
        required=frozenset([*given.values(), *rules.compare, *rules.others]),
        delimiter=_delimiter(options.delimiter),
        encoding=_encoding(options.encoding),
    )


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    delimiter = "\t" if given == "\\t" else given
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"--delimiter must be one character and no quote, got {given!r}")
    return delimiter


def _encoding(given: str | None) -> str | None:
    if given is not None:
        with suppress(LookupError, ValueError):
            "".encode(given)
            return given
        raise ValueError(f"--encoding must be a text encoding that Python knows, got {given!r}")
    return None


def _max_broken(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal()):
        raise ValueError(f"--max-broken must be a whole number from 0 up, got {given!r}")
    return int(given)


def _processes(given: str) -> int | None:
    if given == "auto":
        return None
    if not given.isdecimal() or not 1 <= int(given) <= 1024:
        raise ValueError(f"--processes must be auto or a whole number from 1 up, got {given!r}")
    return int(given)
