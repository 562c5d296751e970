"""The fields of items of any kind: which hold the text and the URL, and which distinguish items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

from itemadapter import ItemAdapter

from dedup.collection.columns import nearest
from dedup.keys import is_there, key_of
from dedup.scrapy.items import PageItem

_NO_FACTS = frozenset({"html", "canonical_url", "_id", "_key", "uuid"})
"""Names of fields that differ between copies: a URL, markup, and ids made for each item."""

_TIME_NAME = re.compile(r"(?:fetched|scraped|crawled|retrieved)(?:_(?:at|time|on))?|timestamp")

_UNIX_TIME = re.compile(r"\d{9,19}(?:\.\d+)?")

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class ItemFields:
    """The names of fields, from the settings `DEDUP_ITEM_*`.

    Attributes:
        text: of the fields whose values together are the text.
        url: of the field whose value is the URL.
        key: of the only fields that, with the text, distinguish items; (): all except `ignored` and
            those that always differ between copies.
        ignored: of fields that do not distinguish items.
    """

    text: tuple[str, ...] = ("text",)
    url: str = "url"
    key: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def text_of(self, item: object) -> str | None:
        """The text, with a line for each value; None: no field has a text."""
        lines = [line for name in self.text for line in _lines(get(item, name))]
        return "\n".join(lines) if lines else None

    def url_of(self, item: object) -> str | None:
        url = get(item, self.url)
        return url if isinstance(url, str) else None

    def own_of(self, item: object, extracted: Mapping[str, object]) -> dict[str, object]:
        """The fields that distinguish the item from others with its text: those its spider has set.

        {}: the item is a page.

        Args:
            item: in the pipelines.
            extracted: what was read from its page, by field; it is not its owner's.
        """
        if self.key:
            return {name: value for name in self.key if is_there(value := get(item, name))}
        own = {
            name: value
            for name, value in fields_of(item)
            if is_there(value)
            and self._counts(name, value)
            and not (isinstance(value, str) and extracted.get(name) == value)
        }
        return own if own.keys() - {"title"} else {}

    def key_of(self, own: Mapping[str, object], item: object, *, is_short: bool) -> str:
        """The key of an item with these fields.

        A short text does not identify a page. So the URL counts, too, unless a setting names the
        fields that count.

        Raises:
            RecursionError: a value contains itself.
        """
        if own and is_short and not self.key and self.url not in self.ignored:
            own = {**own, self.url: get(item, self.url)}
        return key_of(own, members)

    def _counts(self, name: str, value: object) -> bool:
        if name in _NO_FACTS or name == self.url or name in self.text or name in self.ignored:
            return False
        if name == "body" and isinstance(value, bytes):
            return False
        return not _is_time_of_fetch(name, value)


class SeenNames:
    """Notes which fields items have, where settings name fields."""

    def __init__(self, fields: ItemFields) -> None:
        default = ItemFields()
        self._named = {
            "DEDUP_ITEM_TEXT_FIELDS": fields.text if fields.text != default.text else (),
            "DEDUP_ITEM_URL_FIELD": (fields.url,) if fields.url != default.url else (),
            "DEDUP_ITEM_KEY_FIELDS": fields.key,
            "DEDUP_ITEM_IGNORE_FIELDS": fields.ignored,
        }
        self._is_needed = any(self._named.values())
        self._seen: dict[str, None] = {}

    def note(self, item: object) -> None:
        if self._is_needed:
            self._seen.update((name, None) for name, _ in fields_of(item))

    def missing(self) -> list[str]:
        """A sentence for each field that is named, and that no item had; []: there was no item."""
        return [
            f"{setting}: no item had a field `{name}`{nearest(name, self._seen)}"
            for setting, names in self._named.items()
            for name in names
            if self._seen and name not in self._seen
        ]


def get(item: object, name: str) -> object:
    """The value of a field, or of an attribute if the object is not an item; None: missing."""
    if isinstance(item, dict):  # most items are, and an adapter is slow
        return item.get(name)
    if isinstance(item, PageItem):
        return getattr(item, name, None)
    if ItemAdapter.is_item(item):
        return ItemAdapter(item).get(name)
    if isinstance(item, Mapping):
        return item.get(name)
    return getattr(item, name, None)


def members(value: object) -> Mapping[str, object] | None:
    """The fields of an item, also of one within an item, but those of fetches; None: no item."""
    if isinstance(value, (dict, Mapping)) or ItemAdapter.is_item(value):
        found = fields_of(value)
        return {name: each for name, each in found if not _is_time_of_fetch(name, each)}
    return None


def fields_of(item: object) -> Iterator[tuple[str, object]]:
    """All fields of an item with their values; of an object that is not an item, its attributes."""
    if isinstance(item, (dict, Mapping)):
        for name, value in item.items():
            yield str(name), value
    elif ItemAdapter.is_item(item):
        yield from ItemAdapter(item).items()
    else:
        slots = [getattr(each, "__slots__", ()) for each in type(item).__mro__]
        names = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
        own = vars(item) if hasattr(item, "__dict__") else ()
        for name in dict.fromkeys([*names, *getattr(item, "_fields", ()), *own]):
            if hasattr(item, name):
                yield name, getattr(item, name)


def _is_time_of_fetch(name: str, value: object) -> bool:
    """Is a field, by its name and value, the time at which its item was fetched?"""
    if not _is_time_name(name):
        return False
    if isinstance(value, date | datetime):
        return True
    if isinstance(value, str):
        text = value.strip()
        return bool(_UNIX_TIME.fullmatch(text)) or _is_iso_time(text)
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 1e8


@lru_cache(maxsize=1_000)
def _is_time_name(name: str) -> bool:
    return _TIME_NAME.fullmatch(_CAPITAL.sub("_", name).lower()) is not None


def _is_iso_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def fill(item: object, name: str, value: object, *, instead_of: object = None) -> None:
    """Set a field of the item, if the item has the field, and it can be set.

    It must be empty, or have the value `instead_of`.
    """
    if isinstance(item, PageItem):
        if hasattr(item, name) and getattr(item, name) in (None, "", 0, instead_of):
            setattr(item, name, value)
        return
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    if name not in adapter.field_names():
        return
    before = adapter.get(name)
    if not before or before == instead_of:
        with suppress(AttributeError, KeyError, TypeError, ValueError):  # it cannot be set
            adapter[name] = value


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [part for part in value if isinstance(part, str)]
    return []
