"""Names of rows as they were given: a number stays a number."""

import json
from typing import Any

_MISSING, _TEXT, _VALUE, _INTEGER = range(4)


def kind_of(name: Any) -> int:
    """What kind of name a row has; None: its number."""
    if type(name) is int:
        return _INTEGER
    return _TEXT if isinstance(name, str) else _VALUE


class Names:
    """Of each number, whether its document's id was text. A byte each.

    Stores keep ids as text; this tells what they were.
    """

    def __init__(self) -> None:
        self._kinds = bytearray()

    def note(self, number: int, kind: int) -> None:
        """Remember what kind of name the document of this number has."""
        if number >= len(self._kinds):
            self._kinds.extend(bytes(number + 1 - len(self._kinds)))
        self._kinds[number] = kind

    def kind(self, number: int) -> int:
        return self._kinds[number] if number < len(self._kinds) else _MISSING

    def value(self, number: int, text: str) -> Any:
        """The name as it was given, from what the store keeps of it.

        >>> names = Names()
        >>> names.note(0, kind_of(7)), names.note(1, kind_of("7"))
        (None, None)
        >>> names.value(0, "7"), names.value(1, "7")
        (7, '7')
        """
        kind = self.kind(number)
        if kind == _INTEGER:
            return int(text)
        return json.loads(text) if kind == _VALUE else text
