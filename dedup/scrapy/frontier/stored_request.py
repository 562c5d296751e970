"""Serialises requests for the job's store.

The format is JSON: a job's folder may come from anyone, and reading a pickle runs code in it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.spiders.own import is_own

_PLAIN_META = {"depth", KEY}


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
        raise UnserialisableError("JSON cannot hold all of its values as they are")
    return stored


def from_bytes(stored: bytes, spider: Spider) -> Request:
    """The request that `to_bytes` stored.

    Raises:
        UnserialisableError: the bytes are in another format.
        ValueError, KeyError, …: they are damaged, or name a method that the spider lacks.
    """
    if not stored.startswith(b"{"):
        raise UnserialisableError("it is no JSON; pickles of earlier releases are not read")
    fields = json.loads(stored)
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
        module, _, name = str(fields["_class"]).rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
        if not (isinstance(kind, type) and issubclass(kind, Request)):
            raise UnserialisableError(f"{fields['_class']!r} is no class of requests in use")
    for role in ("callback", "errback"):
        if str(fields.get(role) or "").startswith("__"):
            raise UnserialisableError(f"{role} {fields[role]!r} is no method for responses")


def _as_json(fields: dict[str, Any]) -> bytes | None:
    """The fields as JSON; None: JSON would change them, as it turns tuples into lists."""
    plain = {**fields, "body": "", "headers": {}}
    try:
        if json.loads(json.dumps(plain)) != plain:
            return None
    except (TypeError, ValueError):  # ValueError: a structure that contains itself
        return None
    headers = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in fields["headers"].items()
    }
    plain |= {"body": fields["body"].decode("latin-1"), "headers": headers}
    return json.dumps(plain).encode()
