"""What an item of any kind says: which of its fields hold text and URL, and which make its key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from itemadapter import ItemAdapter


@dataclass(frozen=True, slots=True)
class ItemFields:
    """The names of fields, from the settings `DEDUP_ITEM_*`.

    Attributes:
        text: whose values together are the text.
        url: whose value is the URL.
        key: whose values have to be equal, too.
    """

    text: tuple[str, ...] = ("text",)
    url: str = "url"
    key: tuple[str, ...] = ()

    def text_of(self, item: object) -> str | None:
        """The text, a line for each value; None: no field has one."""
        lines = [line for name in self.text for line in _lines(get(item, name))]
        return "\n".join(lines) if lines else None

    def url_of(self, item: object) -> str | None:
        url = get(item, self.url)
        return url if isinstance(url, str) else None

    def key_of(self, item: object) -> str:
        """A digest of the key fields' values; "" where there are no such fields."""
        if not self.key:
            return ""
        values = json.dumps([get(item, name) for name in self.key], sort_keys=True, default=repr)
        return sha256(values.encode()).hexdigest()[:32]


def get(item: object, name: str) -> object:
    """A field's value; None: it has none. Objects that are no items have attributes."""
    if isinstance(item, dict):  # most are, and adapters take their time
        return item.get(name)
    if ItemAdapter.is_item(item):
        return ItemAdapter(item).get(name)
    if isinstance(item, Mapping):
        return item.get(name)
    return getattr(item, name, None)


def fill(item: object, name: str, value: object) -> None:
    """Give an empty field of the item a value, if it has such a field and takes it."""
    if not ItemAdapter.is_item(item):
        return
    adapter = ItemAdapter(item)
    if name in adapter.field_names() and not adapter.get(name):
        with suppress(AttributeError, KeyError, TypeError, ValueError):  # frozen, or of other type
            adapter[name] = value


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list | tuple):
        return [part for part in value if isinstance(part, str)]
    return []
