"""Progress and results of `dedup run`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from dedup.cli.console import ERRORS
from dedup.collection.evaluation import Evaluation
from dedup.collection.passages import PassageCounts
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


@contextmanager
def showing_progress(
    what: str, total_bytes: int, counts: Counts | None
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal: share of bytes, rows per second, time left.

    Yields a function to call with the number of bytes read.
    """
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
    )
    is_hidden = not ERRORS.is_terminal
    with Progress(*columns, console=ERRORS, transient=True, disable=is_hidden) as bar:
        task = bar.add_task(what, total=max(total_bytes, 1), rate="")

        def show(position: int) -> None:
            rate = ""
            if counts is not None:
                seconds = bar.tasks[0].elapsed
                rate = f"{counts.total:,} rows, {counts.total / seconds if seconds else 0:,.0f}/s"
            bar.update(task, completed=position, rate=rate)

        yield show


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
