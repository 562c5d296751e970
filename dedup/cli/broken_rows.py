"""Telling of broken rows, so that the reasons are seen, and none of them a hundred times."""

from collections.abc import Sequence

from dedup.cli.console import ERRORS, plain
from dedup.collection import Broken
from dedup.collection.account import FileAccount

_MAX_TOLD = 10


class BrokenRows:
    """Tells each reason once, with the first row of it, and ten at the most.

    Of a file that may have nothing but broken rows nothing is told before its first sound row: if
    none comes, the error about the file says it all.
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
        """Tell what waits."""
        for sentence in self._waiting.values():
            ERRORS.print(plain(sentence), soft_wrap=True)
        self._told |= self._waiting.keys()
        self._waiting.clear()
