"""How far `dedup run` is, and what came of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from dedup.cli.console import ERRORS
from dedup.terminal.summary_table import counts_table


@dataclass(slots=True)
class Counts:
    """Rows so far."""

    unique: int = 0
    duplicates: Counter[str] = field(default_factory=Counter)
    broken: int = 0

    def add(self, stage: str | None) -> None:
        """Count a row that stays, or one that this stage found to be a duplicate."""
        if stage is None:
            self.unique += 1
        else:
            self.duplicates[stage] += 1

    @property
    def total(self) -> int:
        return self.unique + self.duplicates.total() + self.broken


class RunProgress:
    """A bar by the bytes of the files: share, rows a second, time left. Only on a terminal."""

    def __init__(self, what: str, total_bytes: int, counts: Counts | None) -> None:
        self._counts = counts
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            console=ERRORS,
            transient=True,
            disable=not ERRORS.is_terminal,
        )
        self._task = self._bar.add_task(what, total=max(total_bytes, 1), rate="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, position: int) -> None:
        """Show that so many bytes of the files have been read."""
        rate = ""
        if self._counts is not None:
            seconds = self._bar.tasks[0].elapsed or 0
            per_second = self._counts.total / seconds if seconds else 0
            rate = f"{self._counts.total:,} rows, {per_second:,.0f}/s"
        self._bar.update(self._task, completed=position, rate=rate)


def closing_table(counts: Counts, stages: Sequence[str], seconds: float) -> RenderableType:
    """Rows by what became of them: all = unique + duplicates by stage + broken."""
    total = max(counts.total, 1)
    rows = [("rows", counts.total), ("  unique", counts.unique)]
    found = [stage for stage in stages if counts.duplicates[stage]]
    rows += [(f"  duplicates: {stage}", counts.duplicates[stage]) for stage in found]
    if counts.broken:
        rows.append(("  broken rows", counts.broken))
    shown = [(name, f"{count:,}", f"{100 * count / total:.1f}") for name, count in rows]
    rate = counts.total / seconds if seconds else 0
    words = f"{counts.unique:,} unique, {counts.duplicates.total():,} duplicates"
    if counts.broken:
        words += f", {counts.broken:,} broken rows"
    table = counts_table(("", "rows", "%"), shown)
    return Group(table, Text(f"{words}; {rate:,.0f} rows/s in {seconds:,.1f} s"))
