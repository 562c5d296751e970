"""Serialises requests for the job's store.

The format is JSON: a job's folder may come from anyone, and reading a pickle runs code in it. An
item is stored as the name of its class and its fields, and is made without a call of its
`__init__`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Item, Request, Spider
from scrapy.utils.request import request_from_dict

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.spiders.own import is_own

_PLAIN_META = {"depth", KEY}

_ITEM, _FIELDS = "dedup_item", "fields"
"""The names in a stored item: its class, and the values of its fields."""


class UnserialisableError(ValueError):
    """The request cannot be stored, for example as its callback is not a method of the spider."""


def is_plain(request: Request, spider: object) -> bool:
    """Does the spider's `page_request` make the same request from URL and depth alone?"""
    return (
        is_own(spider)
        and request.callback == spider.parse
        and request.meta.keys() <= _PLAIN_META
        and not (request.cb_kwargs or request.headers or request.body or request.cookies)
        and request.method == "GET"
    )


def to_bytes(request: Request, spider: Spider) -> bytes:
    """The request without its key, as JSON.

    Raises:
        UnserialisableError: JSON cannot hold it, or would change a value.
    """
    try:
        fields = request.to_dict(spider=spider)
        fields["meta"] = {name: value for name, value in request.meta.items() if name != KEY}
        stored = _as_json(fields)
    except Exception as error:  # a subclass may have a `to_dict` of its own
        raise UnserialisableError(str(error)) from error
    if stored is None:
        raise UnserialisableError("some of its values are not JSON-serialisable")
    return stored


def from_bytes(stored: bytes, spider: Spider) -> Request:
    """The request that `to_bytes` stored.

    Raises:
        UnserialisableError: the bytes are in another format.
        ValueError, KeyError, …: they are damaged, or name a method that the spider lacks.
    """
    if not stored.startswith(b"{"):
        raise UnserialisableError("it is not JSON; pickles of earlier releases are not read")
    fields = json.loads(stored, object_hook=_item_or_dict)
    fields["body"] = fields["body"].encode("latin-1")
    fields["headers"] = {
        name.encode("latin-1"): [value.encode("latin-1") for value in values]
        for name, values in fields["headers"].items()
    }
    _check_names(fields)
    return request_from_dict(fields, spider=spider)


def _check_names(fields: Mapping[str, object]) -> None:
    """Check that a stored request names a loaded request class and methods of the spider.

    Scrapy would import and call any class that the bytes name.
    """
    if "_class" in fields:
        kind = _loaded_class(fields["_class"])
        if kind is None or not issubclass(kind, Request):
            raise UnserialisableError(f"{fields['_class']!r} is not a request class in use")
    for role in ("callback", "errback"):
        if str(fields.get(role) or "").startswith("__"):
            raise UnserialisableError(f"{role} {fields[role]!r} is not a method for responses")


def _loaded_class(path: object) -> type | None:
    """The class of that path, if its module is loaded."""
    module, _, name = str(path).rpartition(".")
    kind = getattr(sys.modules.get(module), name, None)
    return kind if isinstance(kind, type) else None


def _item_as_dict(value: object) -> dict[str, object]:
    if not ItemAdapter.is_item(value):
        raise TypeError(f"{type(value).__name__} is not JSON-serialisable")
    kind, fields = type(value), dict(ItemAdapter(value))
    if getattr(value, "__dict__", {}).keys() - fields.keys() - {"_values"}:  # an Item's fields
        raise TypeError(f"{kind.__name__} has attributes besides its fields")
    return {_ITEM: f"{kind.__module__}.{kind.__qualname__}", _FIELDS: fields}


def _item_or_dict(fields: dict[str, Any]) -> object:
    if fields.keys() != {_ITEM, _FIELDS}:
        return fields
    kind = _loaded_class(fields[_ITEM])
    if kind is None or issubclass(kind, dict) or not ItemAdapter.is_item_class(kind):
        raise UnserialisableError(f"{fields[_ITEM]!r} is not an item class in use")
    item = object.__new__(kind)  # its `__init__` may do anything
    if isinstance(item, Item):
        Item.__init__(item, fields[_FIELDS])
    else:
        for name, value in fields[_FIELDS].items():
            object.__setattr__(item, name, value)
    return item


def _as_json(fields: dict[str, Any]) -> bytes | None:
    """The fields as JSON; None: JSON would change them, as it turns tuples into lists."""
    plain = {**fields, "body": "", "headers": {}}
    try:
        stored = json.dumps(plain, default=_item_as_dict)
        if json.loads(stored, object_hook=_item_or_dict) != plain:
            return None
    except (TypeError, ValueError):  # ValueError: a structure that contains itself
        return None
    headers = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in fields["headers"].items()
    }
    plain |= {"body": fields["body"].decode("latin-1"), "headers": headers}
    return json.dumps(plain, default=_item_as_dict).encode()
