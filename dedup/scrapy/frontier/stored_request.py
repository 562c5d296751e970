"""Requests as bytes and back, for the job's store."""

from __future__ import annotations

import json
import pickle
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from dedup.scrapy.frontier.meta import KEY

_PLAIN_META = {"depth", KEY}


class UnserialisableError(ValueError):
    """The request refers to what cannot be stored, such as a callback that is no spider method."""


def is_plain(request: Request, spider: Any) -> bool:
    """Does the spider's `page_request` make the same request from URL and depth alone?"""
    return (
        hasattr(spider, "page_request")
        and request.callback == spider.parse
        and request.meta.keys() <= _PLAIN_META
        and not (request.cb_kwargs or request.headers or request.body or request.cookies)
        and request.method == "GET"
    )


def to_bytes(request: Request, spider: Spider) -> bytes:
    """The request without its key, as JSON, or as a pickle where JSON would change a value.

    Raises:
        UnserialisableError: neither can hold it.
    """
    try:
        fields = request.to_dict(spider=spider)
        fields["meta"] = {name: value for name, value in request.meta.items() if name != KEY}
        return _as_json(fields) or pickle.dumps(fields)
    except Exception as error:  # what pickling runs is code of anyone's
        raise UnserialisableError(str(error)) from error


def from_bytes(stored: bytes, spider: Spider) -> Request:
    """The request that `to_bytes` stored. Whatever unpickling raises is passed on."""
    if stored.startswith(b"{"):
        fields = json.loads(stored)
        fields["body"] = fields["body"].encode("latin-1")
        fields["headers"] = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in fields["headers"].items()
        }
    else:
        fields = pickle.loads(stored)  # noqa: S301 -- the job's own file, as in Scrapy's queues
    return request_from_dict(fields, spider=spider)


def _as_json(fields: dict[str, Any]) -> bytes | None:
    """JSON that reads back as the same values; tuples, for one, would come back as lists."""
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
