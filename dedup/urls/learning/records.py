"""What learning asks of a store."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from dedup.urls.learning.life import HostRule

NEAR = -1
"""In place of a page's number: the page was fetched, and is no evidence."""


class UrlKnowledge(Protocol):
    """The learned rules of a job's hosts, and which page each known form of an address shows."""

    def rules(self, host: str) -> list[HostRule]:
        """Those of a host, by number; each call gives new objects."""

    def all_rules(self) -> list[HostRule]:
        """Those of all hosts, by host and number."""

    def put_rules(self, rules: Sequence[HostRule]) -> None:
        """Write rules; one whose number is 0 is new, and is given the next number of the job."""

    def forms(self, keys: Sequence[bytes]) -> dict[bytes, int | None]:
        """The pages that forms show, by key: a page's number, `NEAR`, or None: not fetched yet.

        Forms that are not known are left out.
        """

    def add_forms(self, forms: Iterable[tuple[bytes, int | None]]) -> None:
        """Note forms and their pages. A page that is noted stays; None is replaced by a page."""
