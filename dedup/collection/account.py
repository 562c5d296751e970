"""What is counted of a collection, file by file; and what is a mistake about a whole file."""

from dataclasses import dataclass, field

from dedup.collection.columns import Columns, nearest
from dedup.collection.rows import Broken
from dedup.collection.sources import Source

_NAMES_AT_MOST = 1_000
"""Columns that are remembered, to suggest the nearest one to a column that no row has."""


@dataclass(slots=True)
class FileAccount:
    """The rows of one file so far."""

    source: Source
    columns: Columns
    rows: int = 0
    broken: int = 0
    without_text: int = 0
    first_broken: Broken | None = None
    present: set[str] = field(default_factory=set)
    names: dict[str, None] = field(default_factory=dict)

    def add(self, present: frozenset[str], names: tuple[str, ...]) -> None:
        """Count a row that is a document, and has these of the columns that the user named."""
        self.rows += 1
        if self.columns.required:
            self._note(present, names)

    def add_without_text(
        self, broken: Broken, present: frozenset[str], names: tuple[str, ...]
    ) -> None:
        """Count a row that is sound, but has no text."""
        self.without_text += 1
        self.first_broken = self.first_broken or broken
        self._note(present, names)

    def add_broken(self, broken: Broken) -> None:
        self.broken += 1
        self.first_broken = self.first_broken or broken

    def _note(self, present: frozenset[str], names: tuple[str, ...]) -> None:
        if len(self.present) < len(self.columns.required):
            self.present |= present
            if len(self.names) < _NAMES_AT_MOST:
                self.names |= dict.fromkeys(names)

    def check(self) -> None:
        """Check the file once it has been read.

        Raises:
            ValueError: no row is a document; or none has a column that the user named.
        """
        if self.first_broken is not None and not self.rows:
            n_rows = self.broken + self.without_text
            raise ValueError(
                f"{self.source.name}: none of {n_rows:,} rows is valid; the first,"
                f" {self.first_broken.place}: {self.first_broken.reason}"
            )
        if self.rows and self.source.format != "warc":
            for name in sorted(self.columns.required - self.present):
                raise ValueError(
                    f"{self.source.name}: no row has column `{name}`{nearest(name, self.names)}"
                )
