"""URL rules that are named with what they are about: a parameter, two folders, two hosts.

Such a rule holds for one site, so it is given, and never on by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from dedup.urls.parts import UrlParts, parameter_name

DROP = "drop:"
"""Begins the rule that drops one parameter of the query: "drop:sort" makes "/?sort=up" "/"."""

_Rule = Callable[[UrlParts], UrlParts]


def named_rule(name: str) -> _Rule | None:
    """Return the rule of a name; None: it is no rule's.

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
        return _dropping(dropped, prefix)
    source, equals, target = rest.partition("=")
    if not equals or not source or (len(source), source) < (len(target), target):
        return None
    if kind == "folder" and all(_is_folder(each) for each in (source, target)):
        return _moving(source, target)
    return _renaming(source, target) if kind == "host" and target else None


def _dropping(name: str, prefix: str) -> _Rule:
    def drop(parts: UrlParts) -> UrlParts:
        if not parts.query or not parts.path.startswith(prefix):
            return parts
        kept = [each for each in parts.query.split("&") if parameter_name(each) != name]
        return parts._replace(query="&".join(kept))

    return drop


def _moving(source: str, target: str) -> _Rule:
    def move(parts: UrlParts) -> UrlParts:
        if not parts.path.startswith(source):
            return parts
        return parts._replace(path=target + parts.path[len(source) :])

    return move


def _renaming(source: str, target: str) -> _Rule:
    name, colon, port = target.partition(":")

    def rename(parts: UrlParts) -> UrlParts:
        if parts.host + parts.port != source:
            return parts
        return parts._replace(host=name, port=colon + port)

    return rename


def _is_folder(path: str) -> bool:
    return path.startswith("/") and path.endswith("/")


def _drop_bare_query(parts: UrlParts) -> UrlParts:
    return parts if "=" in parts.query else parts._replace(query="")


def _sort_values(parts: UrlParts) -> UrlParts:
    return parts._replace(query="&".join(sorted(parts.query.split("&"))))


_PLAIN: dict[str, _Rule] = {"bare-query": _drop_bare_query, "order": _sort_values}
