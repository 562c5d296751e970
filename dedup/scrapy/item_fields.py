"""The fields of items of any kind: which of them hold the text, the URL and the key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from itemadapter import ItemAdapter

from dedup.scrapy.items import PageItem


@dataclass(frozen=True, slots=True)
class ItemFields:
    """The names of fields, from the settings `DEDUP_ITEM_*`.

    Attributes:
        text: of the fields whose values together are the text.
        url: of the field whose value is the URL.
        key: of the fields whose values have to be equal in duplicates.
    """

    text: tuple[str, ...] = ("text",)
    url: str = "url"
    key: tuple[str, ...] = ()

    def text_of(self, item: object) -> str | None:
        """The text, with a line for each value; None: no field has a text."""
        lines = [line for name in self.text for line in _lines(get(item, name))]
        return "\n".join(lines) if lines else None

    def url_of(self, item: object) -> str | None:
        url = get(item, self.url)
        return url if isinstance(url, str) else None

    def key_of(self, item: object) -> str:
        """A digest of the values of the key fields; "" if there are no key fields."""
        if not self.key:
            return ""
        values = json.dumps([get(item, name) for name in self.key], sort_keys=True, default=repr)
        return sha256(values.encode()).hexdigest()[:32]


def get(item: object, name: str) -> object:
    """The value of a field; None: there is none. Of an object that is not an item, an attribute."""
    if isinstance(item, dict):  # most items are, and an adapter is slow
        return item.get(name)
    if isinstance(item, PageItem):
        return getattr(item, name, None)
    if ItemAdapter.is_item(item):
        return ItemAdapter(item).get(name)
    if isinstance(item, Mapping):
        return item.get(name)
    return getattr(item, name, None)


def fill(item: object, name: str, value: object) -> None:
    """Set a field of the item, if the item has the field, it is empty, and it can be set."""
    if isinstance(item, PageItem):
        if name in item.__slots__ and not getattr(item, name):
            setattr(item, name, value)
        return
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    if name in adapter.field_names() and not adapter.get(name):
        with suppress(AttributeError, KeyError, TypeError, ValueError):  # it cannot be set
            adapter[name] = value


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [part for part in value if isinstance(part, str)]
    return []
