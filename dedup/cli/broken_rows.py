"""Messages about broken rows: all reasons, each only once."""

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
