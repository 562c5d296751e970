"""Keys of documents: their fields besides the text; see `Document.key`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from uuid import uuid4

Members = Callable[[object], Mapping[str, object] | None]
"""Gives the fields of an object; None: it has none, and is a plain value."""

_SHORT_CHARACTERS = 40

_written = json.JSONEncoder(sort_keys=True).encode


_COLLECTIONS = (bytes, list, tuple, set, frozenset, Mapping)


def mappings(value: object) -> Mapping[str, object] | None:
    """Only mappings have fields."""
    return value if isinstance(value, Mapping) else None


def key_of(values: Mapping[str, object], members: Members = mappings) -> str:
    r"""Return the values by their names, as JSON, long ones as digests; "" if none is there.

    Equal values give equal keys: white space and the order of names do not count; case, types and
    the order of lists do. None and empty texts, lists and mappings are not there. A value that is
    written as an address (an object without a `__repr__`, a generator) equals no other.

    Raises:
        RecursionError: a value is nested too deeply, or contains itself.

    >>> key_of({"size": None, "sku": " A  1\n"})
    '{"sku": "A 1"}'
    >>> key_of({"sku": 1}) == key_of({"sku": "1"})
    False
    """
    found = {
        name: _short(_plain(value, members)) for name, value in values.items() if is_there(value)
    }
    return _written(found) if found else ""


def differing(first: str, second: str) -> list[str]:
    """The names of the fields in which two keys differ, in alphabetical order.

    >>> differing(key_of({"sku": 1, "size": 2}), key_of({"sku": 1}))
    ['size']
    """
    one, other = (json.loads(key) if key else {} for key in (first, second))
    # Not the values themselves: 1 equals 1.0, and True.
    return sorted(name for name in {*one, *other} if repr(one.get(name)) != repr(other.get(name)))


def is_there(value: object) -> bool:
    """Is it a value? None, empty texts and empty collections are none."""
    if isinstance(value, str):
        return bool(value) and not value.isspace()
    if value is None or isinstance(value, (int, float)):
        return value is not None
    return not (isinstance(value, _COLLECTIONS) and not value)


def _short(plain: object) -> object:
    """A plain value unchanged, or, where it may be long, its kind and its digest."""
    if isinstance(plain, str):
        return plain if len(plain) <= _SHORT_CHARACTERS else ["text", _digest(plain)]
    if isinstance(plain, (list, dict)):
        return ["values", _digest(repr(plain))]
    return plain


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _plain(value: object, members: Members) -> object:
    """The value as JSON; values of types that JSON lacks, with their type."""
    if isinstance(value, str):
        return " ".join(value.split())
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each, members) for each in value]
    found = members(value)
    if found is not None:
        plain = {str(name): _plain(each, members) for name, each in found.items()}
        return dict(sorted(plain.items()))
    if isinstance(value, (set, frozenset)):
        return {"set": sorted(repr(_plain(each, members)) for each in value)}
    if getattr(value, "shape", ()) and hasattr(value, "tolist"):  # `repr` shortens long arrays
        return {type(value).__qualname__: _plain(value.tolist(), members)}
    written = repr(value)
    if " at 0x" in written and not isinstance(value, bytes):
        written = uuid4().hex  # an address tells nothing: a later value may have the same
    return {type(value).__qualname__: written}
