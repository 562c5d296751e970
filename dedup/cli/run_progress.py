"""Counts and results of `dedup run`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from dedup.cli.console import ERRORS
from dedup.collection.evaluation import Evaluation
from dedup.collection.passages import PassageCounts
from dedup.terminal.plain import plain_json
from dedup.terminal.summary_table import counts_table


@dataclass(slots=True)
class Counts:
    """Counts of the rows so far."""

    unique: int = 0
    duplicates: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    without_text: int = 0
    passages: PassageCounts | None = None

    def add(self, stage: str | None) -> None:
        """Count a row to keep, or a duplicate found by this stage."""
        if stage is None:
            self.unique += 1
        else:
            self.duplicates[stage] += 1

    @property
    def total(self) -> int:
        return self.unique + self.duplicates.total() + self.broken + self.without_text


def tell_counts(
    counts: Counts, stages: Sequence[str], seconds: float, *, as_json: bool = False
) -> None:
    """Print the closing table to standard error or, as JSON, the counts to standard output."""
    if as_json:
        print(plain_json(_account(counts, seconds)))
    else:
        ERRORS.print(closing_table(counts, stages, seconds))


def _account(counts: Counts, seconds: float) -> dict[str, Any]:
    passages = counts.passages
    return {
        "rows": counts.total,
        "unique": counts.unique,
        "duplicates": dict(counts.duplicates),
        "without_text": counts.without_text,
        "broken": counts.broken,
        "passages": None if passages is None else passages.passages,
        "seconds": round(seconds, 3),
    }


def closing_table(counts: Counts, stages: Sequence[str], seconds: float) -> RenderableType:
    """Rows by outcome: all = unique + duplicates by stage + without text + broken."""
    total = max(counts.total, 1)
    rows = [("rows", counts.total), ("  unique", counts.unique)]
    found = [stage for stage in stages if counts.duplicates[stage]]
    rows += [(f"  duplicates: {stage}", counts.duplicates[stage]) for stage in found]
    others = {"without text": counts.without_text, "broken rows": counts.broken}
    rows += [(f"  {name}", count) for name, count in others.items() if count]
    shown = [(name, f"{count:,}", f"{100 * count / total:.1f}") for name, count in rows]
    rate = counts.total / seconds if seconds else 0
    words = f"{counts.unique:,} unique, {counts.duplicates.total():,} duplicates"
    words += "".join(f", {count:,} {name}" for name, count in others.items() if count)
    table = counts_table(("", "rows", "%"), shown)
    told = [f"{words}; {rate:,.0f} rows/s in {seconds:,.1f} s"]
    if (passages := counts.passages) is not None:
        told.append(f"{passages.passages:,} repeated passages, {passages.characters:,} characters")
        if passages.not_searched:
            told.append(
                f"{passages.not_searched:,} rows of markup were not searched for passages, because"
                " their texts are not written"
            )
    return Group(table, Text("\n".join(told)))


def tell_too_short(evaluation: Evaluation) -> None:
    """Say which rows of evaluation sets could not be looked for."""
    if too_short := evaluation.passages.too_short:
        ERRORS.print(
            f"--contains: {too_short:,} rows have fewer than {evaluation.passages.least:,} words"
            " and were not looked for",
            soft_wrap=True,
        )
