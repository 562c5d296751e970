"""URL rules whose names contain what they apply to: a parameter, two folders, two hosts.

Such a rule is right for one site, so it applies only if the user names it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dedup.urls.parts import UrlParts, parameter_name

DROP = "drop:"
"""Begins the rule that drops one parameter of the query: "drop:sort" makes "/?sort=up" "/"."""

_Rule = Callable[[UrlParts], UrlParts]


def named_rule(name: str) -> _Rule | None:
    """Return the rule of a name; None: there is no such rule.

    `drop:NAME`; `drop:NAME@/PREFIX/`, below a folder alone; `bare-query`, which drops a query
    without "="; `order`, by which the order of a parameter's values does not count;
    `folder:/A/=/B/`, by which the first folder is the second; `host:A=B`. Of the two folders or
    hosts the first is the longer, or of equal length the greater: so no two rules undo each other.

    >>> from dedup.urls.parts import split_url
    >>> str(named_rule("folder:/print/=/")(split_url("http://a.example/print/x")))
    'http://a.example/x'
    """
    if name in _PLAIN:
        return _PLAIN[name]
    kind, _, rest = name.partition(":")
    if kind == "drop" and rest:
        dropped, _, prefix = rest.partition("@")
        return partial(_drop, dropped, prefix)
    source, equals, target = rest.partition("=")
    if not equals or not source or (len(source), source) < (len(target), target):
        return None
    if kind == "folder" and all(_is_folder(each) for each in (source, target)):
        return partial(_move, source, target)
    return partial(_rename, source, target) if kind == "host" and target else None


def _drop(name: str, prefix: str, parts: UrlParts) -> UrlParts:
    if not parts.path.startswith(prefix):
        return parts
    return parts.without_fields(lambda field: parameter_name(field) == name)


def _move(source: str, target: str, parts: UrlParts) -> UrlParts:
    if not parts.path.startswith(source):
        return parts
    return parts._replace(path=target + parts.path[len(source) :])


def _rename(source: str, target: str, parts: UrlParts) -> UrlParts:
    if parts.host + parts.port != source:
        return parts
    name, colon, port = target.partition(":")
    return parts._replace(host=name, port=colon + port)


def _is_folder(path: str) -> bool:
    return path.startswith("/") and path.endswith("/")


def _drop_bare_query(parts: UrlParts) -> UrlParts:
    return parts if "=" in parts.query else parts._replace(query="")


def _sort_values(parts: UrlParts) -> UrlParts:
    return parts._replace(query="&".join(sorted(parts.query.split("&"))))


_PLAIN: dict[str, _Rule] = {"bare-query": _drop_bare_query, "order": _sort_values}
