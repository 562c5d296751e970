"""`python -m benchmarks eval CORPUS [PAIRS]`: how good detectors and the default cascade are."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from benchmarks.evaluation import (
    Measurement,
    Truth,
    exact_truth,
    measure,
    methods,
    read_corpus,
    read_pairs,
)
from benchmarks.evaluation.terms import DocumentFrequencies, term_counts
from dedup.cli.console import ERRORS
from dedup.document import Document

_WIDTH = 120


def add_parser(kinds: Any) -> None:
    """Add `eval` to what the benchmarks can do."""
    parser = kinds.add_parser("eval", help="precision, recall and losses of detectors")
    parser.add_argument(
        "corpus",
        type=Path,
        metavar="CORPUS",
        help="JSON Lines (`id`, `text` or `html`), plain or compressed, or a folder of pages",
    )
    parser.add_argument(
        "pairs",
        type=Path,
        nargs="?",
        metavar="PAIRS",
        help="`id<TAB>id<TAB>resemblance`, all pairs of 0.5 and more (default: computed exactly)",
    )
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(execute=_execute)


def _execute(options: argparse.Namespace) -> None:
    for path in filter(None, (options.corpus, options.pairs)):
        if not path.exists():
            raise FileNotFoundError(f"{path}: file not found")
    with ERRORS.status(f"reading {options.corpus}"):
        documents = read_corpus(options.corpus)
    if options.pairs is None:
        with ERRORS.status("computing the resemblance of all pairs"):
            truth = exact_truth(documents)
    else:
        truth = read_pairs(options.pairs, documents)
    found = methods(frequencies=_frequencies(documents))
    rows = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=ERRORS, transient=True) as progress:
        task = progress.add_task("", total=2 * len(found) * len(documents))
        for name, method in found.items():
            progress.update(task, description=name)
            rows.append(
                measure(name, method, documents, truth, advance=lambda: progress.advance(task))
            )
    if options.json:
        print(json.dumps(_account(options, truth, rows), ensure_ascii=False, indent=2))
    else:
        console = Console(highlight=False)
        console.width = max(console.width, _WIDTH)  # rows that wrap are no table
        console.print(_table(rows))
        console.print(_caption(truth), markup=False)


def _frequencies(documents: Sequence[Document]) -> DocumentFrequencies:
    terms = (term_counts(each.normal_text, unspaced=each.is_unspaced)[0] for each in documents)
    return DocumentFrequencies.count(terms)


def _account(
    options: argparse.Namespace, truth: Truth, rows: Sequence[Measurement]
) -> dict[str, Any]:
    return {
        "corpus": str(options.corpus),
        "pairs": None if options.pairs is None else str(options.pairs),
        "documents": truth.n_documents,
        "true_pairs": {str(least): len(truth.at_least(least)) for least in (0.5, 0.8, 0.9)},
        "methods": [asdict(row) for row in rows],
    }


def _table(rows: Sequence[Measurement]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("\nmethod", no_wrap=True)
    for heading in (
        "pre-\ncision",
        "recall\n≥ 0.8",
        "recall\n≥ 0.9",
        "\nF1",
        "unique\ndropped",
        "their\nshare",
        "caught\n≥ 0.8",
        "caught\n≥ 0.9",
        "documents\nper second",
        "bytes a\ndocument",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.method,
            *map(_decimal, (row.precision, row.recall_near, row.recall_very_near, row.f1)),
            f"{row.unique_dropped:,}",
            "-" if row.unique_dropped_share is None else f"{row.unique_dropped_share:.2%}",
            *map(_decimal, (row.caught_near, row.caught_very_near)),
            f"{row.documents_per_second:,.0f}",
            f"{row.bytes_per_document:,.1f}",
        )
    return table


def _decimal(share: float | None) -> str:
    return "-" if share is None else f"{share:.4f}"


def _caption(truth: Truth) -> str:
    counts = " ".join(f"{len(truth.at_least(least)):,} ≥ {least};" for least in (0.5, 0.8, 0.9))
    return f"{truth.n_documents:,} documents; pairs: {counts.rstrip(';')}"
