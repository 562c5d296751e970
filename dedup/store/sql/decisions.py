"""The decisions of a run over a collection, so that an interrupted run can resume."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict

from dedup.document import Document, Match
from dedup.store.query_results import RecordRow
from dedup.store.records import storable
from dedup.store.sql.database import Database
from dedup.store.sql.earlier import EarlierPages

KNOWN = "known"
"""The reason for a document skipped because it duplicates one of another store. Its detail is the
match."""

_GROUP_KEY = "group {:020d}"
"""The name in `meta` for the first record of a group with verdicts of its own."""

_RECORDS = """
SELECT number, NULL AS original, NULL AS stage, NULL AS distance, NULL AS resemblance,
    NULL AS detail FROM pages WHERE number BETWEEN :first AND :last
UNION ALL SELECT number, original, stage, distance, resemblance, NULL FROM duplicates
    WHERE number BETWEEN :first AND :last
UNION ALL SELECT number, NULL, reason, NULL, NULL, detail FROM skipped
    WHERE number BETWEEN :first AND :last
ORDER BY number
"""
LAST_NUMBER = """
SELECT coalesce(max(number), 0) FROM (SELECT max(number) AS number FROM pages
UNION ALL SELECT max(number) FROM duplicates UNION ALL SELECT max(number) FROM skipped) AS every
"""


class Decisions:
    """The decisions of a run that stores none: an interrupted one starts over."""

    def clean(self, text: str | None) -> str | None:
        """A URL or a title as the store returns it."""
        return text

    def count(self) -> int:
        """The number of the last record; the count of records if none was deleted."""
        return 0

    def between(self, first: int, last: int) -> list[RecordRow]:  # noqa: ARG002 -- there are none
        """The outcomes of the documents with these numbers, ascending."""
        return []

    def add_known(self, document: Document, match: Match) -> None:
        """Record a document that duplicates one of another store."""

    def begin_group(self) -> None:
        """Note that the next record starts a group, with verdicts of its own."""

    def group_start(self, number: int) -> int:  # noqa: ARG002 -- there are none
        """The first record of a record's group; 0: the collection has no groups."""
        return 0

    def finish(self) -> None:
        """Note that all documents are decided."""


class StoredDecisions(Decisions):
    """The records of a collection by number.

    Args:
        add_skipped: see `JobStore`.

    Attributes:
        earlier: pages of a crawl, dropped for one of an earlier crawl.
    """

    def __init__(self, database: Database, add_skipped: Callable[..., int]) -> None:
        self._database = database
        self._add_skipped = add_skipped
        self.earlier = EarlierPages(database, add_skipped)

    def clean(self, text: str | None) -> str | None:
        return storable(text)

    def count(self) -> int:
        return int(self._database.value(LAST_NUMBER))

    def between(self, first: int, last: int) -> list[RecordRow]:
        rows = self._database.all(_RECORDS, {"first": first, "last": last})
        return list(map(RecordRow._make, rows))

    def add_known(self, document: Document, match: Match) -> None:
        self._add_skipped(
            document.url or document.id,
            KNOWN,
            detail=json.dumps(asdict(match)),
            is_fetched=True,
            size_bytes=len(document.text.encode("utf-8", "replace")),
        )

    def begin_group(self) -> None:
        self._database.set_meta(_GROUP_KEY.format(self.count() + 1), "")

    def group_start(self, number: int) -> int:
        query = "SELECT max(name) FROM meta WHERE name BETWEEN 'group ' AND ?"
        name = self._database.value(query, (_GROUP_KEY.format(number),))
        return int((name or "0").removeprefix("group "))

    def finish(self) -> None:
        self._database.set_meta("finished", repr(time.time()))
