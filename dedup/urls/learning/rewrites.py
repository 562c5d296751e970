"""The URL rules that can be learned, and what each makes of an address.

A rule rewrites an address to its *form*. It says that both show the same page, for one host. No
rule makes two values of a path segment equal: `folder` names both folders in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from xxhash import xxh3_64_intdigest, xxh3_128_digest

from dedup.urls.named_rules import DROP, in_order, named_rule, with_host, without_parameter
from dedup.urls.parts import UrlParts, parameter_name
from dedup.urls.rules import RULES

_MAX_NAMES = 10  # of parameters that are looked at in one address
_PLAIN_NAME = re.compile(r"[\w.\[\]-]{1,64}", re.ASCII)
_SEGMENT = re.compile(r"[\w.~-]{1,64}", re.ASCII)
_VERSION = re.compile(
    r"(?i)v?\d+(?:[._-]\w+)*|latest|stable|current|main|master|dev|devel|next|nightly|edge"
)
_ADDRESS = re.compile(r"[0-9.]+|\[.*\]|[^.]*")

Rewriter = Callable[[UrlParts], UrlParts]


class Rewrite(NamedTuple):
    """What a rule makes of an address.

    Attributes:
        rule: the rule's name.
        form: the address that the rule gives.
        value: what was dropped; "" where the rule drops nothing that has values.
    """

    rule: str
    form: UrlParts
    value: str = ""


def rewrites(parts: UrlParts) -> Iterator[Rewrite]:
    """Yield what each rule of a kind that needs no learned name makes of an address.

    >>> from dedup.urls.parts import split_url
    >>> [(each.rule, str(each.form)) for each in rewrites(split_url("http://10.0.0.1:8/a?x=1"))]
    [('drop:x', 'http://10.0.0.1:8/a'), ('add-slash', 'http://10.0.0.1:8/a/?x=1')]
    """
    if parts.query:
        yield from _query_rewrites(parts)
    for name, rewriter in _PLAIN.items():
        form = rewriter(parts)
        if form != parts:
            yield Rewrite(name, form, "session" if name == "session" else "")


def rewriter(name: str) -> Rewriter:
    """Return the function of a rule's name.

    Raises:
        ValueError: there is no such rule.
    """
    found = _rewriter(name)
    if found is None:
        raise ValueError(f"rule must be the name of a learnable URL rule, got {name!r}")
    return found


def is_kept_by_form(name: str) -> bool:
    """May several addresses have one form that is no address of the site?

    Then the form itself is noted of each page. Of the others the form is looked up as an address.
    """
    return name.startswith(DROP) or name in {"bare-query", "session", "tracking", "order", "index"}


def shared_name(name: str) -> str:
    """The rule whose forms a rule under a path prefix uses: those of the rule without it."""
    return name.partition("@")[0]


def under_prefix(name: str, parts: UrlParts) -> str:
    """The rule for the first path segment of an address alone; "": there is none for it."""
    segment = parts.path.split("/")[1]
    if not name.startswith(DROP) or "@" in name or parts.path.count("/") < 2:
        return ""
    return f"{name}@/{segment}/" if _SEGMENT.fullmatch(segment) else ""


def is_mirror(name: str) -> bool:
    """Is it a `folder` or `host` rule?"""
    return name.startswith(("folder:", "host:"))


def renamed_host(name: str) -> str:
    """The host whose addresses a `host` rule rewrites; "": it is another rule."""
    kind, _, hosts = name.partition(":")
    return hosts.partition("=")[0] if kind == "host" else ""


def form_key(name: str, form: UrlParts) -> bytes:
    """The 16 bytes by which a rule's form is known."""
    return xxh3_128_digest(f"{shared_name(name)} {form}".encode())


def share_of(name: str, key: bytes, seed: int = 0) -> float:
    """A number from 0 to below 1, the same for the same name, URL key and seed on every machine."""
    return xxh3_64_intdigest(name.encode() + b"\0" + key, seed) / 2**64


def mirrors(url: UrlParts, original: UrlParts) -> list[str]:
    """The names of the `host` and `folder` rules by which two addresses are the same, or none.

    Folders that are versions ("/3.3/", "/latest/") give no rule: the report suggests those.

    >>> from dedup.urls.parts import split_url
    >>> a, b = "http://a.example/print/x/1", "http://a.example/x/1"
    >>> mirrors(split_url(a), split_url(b))
    ['folder:/print/=/']
    """
    if url == original:
        return []
    if (url.scheme, *url[4:]) == (original.scheme, *original[4:]):
        longer, shorter = in_order(url.host + url.port, original.host + original.port)
        return [f"host:{longer}={shorter}"]
    if url[:4] != original[:4] or url.query != original.query:
        return []
    a, b = url.path.split("/"), original.path.split("/")
    while a and b and a[-1] == b[-1]:
        del a[-1], b[-1]
    n_same = 0
    while n_same < min(len(a), len(b)) and a[n_same] == b[n_same]:
        n_same += 1
    if n_same != 1 or max(len(a), len(b)) != 2 or url.path.split("/")[len(a) :] == []:
        return []
    names = [each for part in (a, b) for each in part[1:]]
    if any(_VERSION.fullmatch(each) or not _SEGMENT.fullmatch(each) for each in names):
        return []
    longer, shorter = in_order("/".join([*a, ""]), "/".join([*b, ""]))
    return [f"folder:{longer}={shorter}"]


def inverse(name: str, parts: UrlParts) -> UrlParts | None:
    """The address whose form a `host` or `folder` rule makes `parts` to be; None: there is none."""
    kind, _, pair = name.partition(":")
    source, _, target = pair.partition("=")
    if kind == "folder" and parts.path.startswith(target):
        return parts._replace(path=source + parts.path[len(target) :])
    if kind == "host" and parts.host + parts.port == target:
        return with_host(parts, source)
    return None


@lru_cache(10_000)
def _rewriter(name: str) -> Rewriter | None:
    return _PLAIN.get(name) or named_rule(name)


def _query_rewrites(parts: UrlParts) -> Iterator[Rewrite]:
    fields = parts.query.split("&")
    if "=" not in parts.query:
        yield Rewrite("bare-query", parts._replace(query=""), parts.query)
        return
    names = dict.fromkeys(parameter_name(field) for field in fields[:_MAX_NAMES])
    for name in names:
        if _PLAIN_NAME.fullmatch(name):
            form, dropped = without_parameter(parts, fields, name)
            yield Rewrite(DROP + name, form, "&".join(dropped))
    if len(fields) > len(names) and (form := rewriter("order")(parts)) != parts:
        yield Rewrite("order", form)


def _add_slash(parts: UrlParts) -> UrlParts:
    is_file = parts.path.endswith("/") or "." in parts.path.rpartition("/")[2]
    return parts if is_file else parts._replace(path=parts.path + "/")


def _add_www(parts: UrlParts) -> UrlParts:
    if parts.host.startswith("www.") or _ADDRESS.fullmatch(parts.host):
        return parts
    return parts._replace(host="www." + parts.host)


def _use_http(parts: UrlParts) -> UrlParts:
    if parts.scheme == "https" and not parts.port:
        return parts._replace(scheme="http")
    return parts


_PLAIN: dict[str, Rewriter] = {
    **RULES,
    "add-slash": _add_slash,
    "add-www": _add_www,
    "http": _use_http,
}
"""Rules without a name of their own. The last three undo rules of `dedup.urls.rules`: of a pair
either may be the one that was found first."""

_UNDOING = {"add-slash": "slash", "add-www": "www", "http": "https"}
OPPOSITES = {**_UNDOING, **{name: other for other, name in _UNDOING.items()}}
"""The rules that undo each other."""
