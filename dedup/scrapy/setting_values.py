"""Reading single settings: each value is converted and checked, and an error names its setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from dedup.scrapy import default_settings

_Number = TypeVar("_Number", int, float)


class SettingValues:
    """The `DEDUP_*` settings of a crawler; a setting that is absent has its default.

    Every method raises `ValueError` for a value that breaks the setting's rule. The message has the
    setting, the rule and the value.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self.settings = settings

    def value(self, name: str) -> object:
        """The value as it was set."""
        if name in self.settings:
            value: object = self.settings[name]
            return value
        return getattr(default_settings, name, None)

    def flag(self, name: str) -> bool:
        """A switch: True, 1, "1" and "true" mean on."""
        return self.settings.getbool(name, name not in self.settings and bool(self.value(name)))

    def text(self, name: str) -> str:
        """A text; "" where it is empty or None."""
        return str(self.value(name) or "")

    def strings(self, name: str) -> list[str]:
        """A list; also one string, with commas between its elements."""
        default = None if name in self.settings else self.value(name)
        return self.settings.getlist(name, default)  # type: ignore[arg-type] # it is a list

    def number(self, name: str, *, low: float, high: float = float("inf")) -> float:
        """A number from `low` to `high`."""
        return self._converted(name, float, low, high)

    def whole(self, name: str, *, low: int, high: float = float("inf")) -> int:
        """A whole number from `low` to `high`."""
        return self._converted(name, int, low, high)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of several words."""
        value = str(self.value(name))
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
        return value

    def field_names(self, name: str, *, min_names: int) -> tuple[str, ...]:
        """Names of an item's fields, at least `min_names`."""
        names = [str(each).strip() for each in self.strings(name)]
        if len(names) < min_names or not all(names):
            raise ValueError(f"{name} must be field names, got {self.value(name)!r}")
        return tuple(names)

    def file_name(self, name: str, *endings: str) -> str:
        """The name of a file with one of these endings; "": no file."""
        value = self.text(name)
        if value and not value.endswith(endings):
            raise ValueError(f"{name} must be a {endings[0]} file name, got {value!r}")
        return value

    def _converted(
        self, name: str, kind: Callable[[Any], _Number], low: float, high: float
    ) -> _Number:
        value = self.value(name)
        rule = f"{name} must be a number of at least {low:g}" + (
            "" if high == float("inf") else f" and at most {high:g}"
        )
        try:
            number = kind(value)
        except (OverflowError, TypeError, ValueError):
            raise ValueError(f"{rule}, got {value!r}") from None
        is_cut = isinstance(value, float) and number != value
        if is_cut or not low <= number <= high:
            raise ValueError(f"{rule}, got {value!r}")
        return number
