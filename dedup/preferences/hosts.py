"""What a host declares for its pages by their paths: robots.txt, and the TDM file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from protego import Protego

from dedup.preferences.declarations import TDM_FILE, Declaration, from_json
from dedup.preferences.uses import preference_in_rule

HOSTS_IN_MEMORY = 1_000


def origin_of_page(url: str) -> str:
    """The scheme, host and port of a URL, without user and password.

    >>> origin_of_page("https://Me:secret@Example.com:8080/a")
    'https://example.com:8080'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


class HostRules:
    """The rules of a host that each have a path; without one, they are for all its pages."""

    def __init__(self, declared: Sequence[Declaration]) -> None:
        self._rules = [_Rule(each) for each in declared]

    def of(self, url: str) -> list[Declaration]:
        """The rules for a page.

        In robots.txt, the longest pattern of a kind that matches the path decides, as among `Allow`
        and `Disallow` (RFC 9309, section 2.2.2); several of that length apply together. In a TDM
        file, the first that matches decides.
        """
        found: dict[tuple[str, str], list[_Rule]] = {}
        for rule in self._rules:
            if rule.matches(url):
                found.setdefault(rule.declared[:2], []).append(rule)
        return [each.declared for rules in found.values() for each in _deciding(rules)]


class _Rule:
    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
        path, _ = preference_in_rule(declared.value)
        self.length = sum(1 if char.isascii() else 3 * len(char.encode()) for char in path)
        # The parser has no rules of other kinds, so each is one that disallows its path.
        rules = f"User-agent: *\nDisallow: {path}"
        self._parser = Protego.parse(rules) if path else None

    def matches(self, url: str) -> bool:
        return self._parser is None or not self._parser.can_fetch(url, "*")


def _deciding(rules: Sequence[_Rule]) -> Sequence[_Rule]:
    if rules[0].declared.source == TDM_FILE:
        return rules[:1]
    length = max(rule.length for rule in rules)
    return [rule for rule in rules if rule.length == length]


class DeclaredOfPages:
    """The declarations that are for a page: its own, and its host's.

    Args:
        of_host: what is stored of the files of a host, by its origin.

    Raises:
        ValueError: from `of`: what is stored is damaged.
    """

    def __init__(self, of_host: Callable[[str], Sequence[str]]) -> None:
        self._of_host = of_host
        self._own = lru_cache(HOSTS_IN_MEMORY)(from_json)
        self._rules = lru_cache(HOSTS_IN_MEMORY)(
            lambda texts: HostRules([each for text in texts for each in from_json(text)])
        )

    def of(self, url: str | None, stored: str | None) -> list[Declaration]:
        """Those for the page with this URL, for which this is stored."""
        own = self._own(stored or "")
        texts = tuple(self._of_host(origin_of_page(url))) if url else ()
        return [*own, *self._rules(texts).of(url)] if url and texts else [*own]
