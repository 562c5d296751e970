"""Messages about broken rows and those without text: all reasons, each only once."""

from collections.abc import Sequence

from dedup.cli.console import ERRORS, plain
from dedup.collection import Broken
from dedup.collection.account import FileAccount

_MAX_TOLD = 10


class BrokenRows:
    """Reports each reason once, with its first row, and at most ten reasons.

    Messages about a file wait for its first valid row: without one, the error about the file is
    enough.
    """

    def __init__(self, accounts: Sequence[FileAccount]) -> None:
        self._accounts = accounts
        self._told: set[str] = set()
        self._waiting: dict[str, str] = {}
        self._file = 0

    def add(self, file: int, broken: Broken) -> None:
        if file != self._file:
            self.tell()
            self._file = file
        if len(self._told | self._waiting.keys()) < _MAX_TOLD and broken.reason not in self._told:
            account = self._accounts[file]
            sentence = f"{account.source.name}, {broken.place}: {broken.reason}"
            self._waiting.setdefault(broken.reason, sentence)
            if account.rows:
                self.tell()

    def tell(self) -> None:
        """Report the waiting messages."""
        for sentence in self._waiting.values():
            ERRORS.print(plain(sentence), soft_wrap=True)
        self._told |= self._waiting.keys()
        self._waiting.clear()


def check_number(found: int, most: int | None, first: str) -> None:
    """Check that no more rows than the user allows are broken or have no text.

    Args:
        found: how many there are so far.
        most: how many may be; None: any number.
        first: what is wrong with one of them, and where.

    Raises:
        ValueError: there are more.
    """
    if most is not None and found > most:
        allowed = "no such row" if most == 0 else f"{most:,} such rows"
        option = "--strict" if most == 0 else f"--max-broken {most}"
        raise ValueError(f"{first}; {option} allows {allowed}")
