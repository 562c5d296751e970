"""The rules of a robots.txt for one crawler, in time and memory proportional to its size.

The parser (Protego) stores each rule once for each user agent of its group, and matches a URL
against all wildcards. So it is given the rules of one group alone, and these have a bound.
"""

from __future__ import annotations

import re
from collections import OrderedDict

from protego import Protego

MAX_BYTES = 512_000
"""RFC 9309, section 2.5: at least the first 500 KiB are to be read."""

MAX_WILDCARDS = 5_000
"""`*` in the rules for one crawler. So many take 2 to 7 ms a URL, and 17 ms a URL of 2,000
characters; the largest files of real sites have some hundreds."""

_AGENT = re.compile(r"user[- ]?agent(?:[ \t]*:|[ \t])(.*)", re.IGNORECASE)
_RULE = re.compile(
    r"(allow|disallow|dissallow|dissalow|disalow|diasllow|disallaw"
    r"|crawl[- ]delay|request[- ]rate|visit[- ]time)[ \t]*[: \t]",
    re.IGNORECASE,
)
_SITEMAP = re.compile(r"(?:sitemaps?|site-map)(?:[ \t]*:|[ \t])(.*)", re.IGNORECASE)
"""The spellings are those that the parser knows."""


_USAGE = re.compile(r"(content-usage|content-signal)[ \t]*:(.*)", re.IGNORECASE)
_USAGE_NAMES = {"content-usage": "Content-Usage", "content-signal": "Content-Signal"}
_HAS_USAGE = re.compile(rb"content-(?:usage|signal)", re.IGNORECASE)
_RULE_OR_USAGE = re.compile(f"{_RULE.pattern}|{_USAGE.pattern}", re.IGNORECASE)


class TooManyWildcardsError(ValueError):
    """The rules for the crawler have more than `MAX_WILDCARDS`."""


def rules_for(agent: str, body: bytes) -> str:
    r"""The rules of the groups that are for `agent`, as one group for all; "": there are none.

    Of the file's user agents that occur in `agent`, the longest decides; if none does, `*` decides.
    Lines that are neither a user agent nor a rule do not end a group.

    >>> rules_for("our-bot", b"User-agent: *\nDisallow: /\n\nUser-agent: Our-Bot\nDisallow: /a\n")
    'User-agent: *\nDisallow: /a'

    Raises:
        TooManyWildcardsError: they cannot be matched in a bounded time.
    """
    rules = _lines_for(agent, body, _RULE)
    if not rules:
        return ""
    if sum(rule.count("*") for rule in rules) > MAX_WILDCARDS:
        raise TooManyWildcardsError
    return "\n".join(("User-agent: *", *rules))


def usage_rules_for(agent: str, body: bytes) -> list[tuple[str, str]]:
    r"""The `Content-Usage` and `Content-Signal` rules of the same groups: names and values.

    They are rules like `Disallow`: a user agent behind them begins a group.

    >>> usage_rules_for("our-bot", b"User-agent: *\nContent-Usage: /a/ train-ai=n\nAllow: /\n")
    [('Content-Usage', '/a/ train-ai=n')]
    """
    if not _HAS_USAGE.search(body, 0, MAX_BYTES):
        return []
    found = map(_USAGE.match, _lines_for(agent, body, _RULE_OR_USAGE))
    return [(_USAGE_NAMES[each[1].lower()], each[2].strip()) for each in found if each]


def sitemaps_in_robots(body: bytes) -> list[str]:
    r"""The URLs in the `Sitemap:` lines of a robots.txt.

    >>> sitemaps_in_robots(b"User-agent: *\nSITEMAP: http://example.com/map.xml # all\n")
    ['http://example.com/map.xml']
    """
    found = (_SITEMAP.match(line) for line in _lines(body))
    return [url for each in found if each and (url := each[1].strip())]


class RuleBook:
    """The parsed rules of the hosts that were asked for last.

    Args:
        max_characters: of rules that are parsed, all hosts together; an object of the parser takes
            up to 40 bytes a character.
    """

    def __init__(self, *, max_characters: int = 2_000_000) -> None:
        self._max_characters = max_characters
        self._parsed: OrderedDict[str, Protego] = OrderedDict()
        self._n_characters = 0

    def may_fetch(self, url: str, rules: str) -> bool:
        """Do `rules`, as `rules_for` gives them, allow the URL? Its fragment does not count."""
        return not rules or self._parser(rules).can_fetch(url.partition("#")[0], "*")

    def delay_seconds(self, rules: str) -> float:
        """The `Crawl-delay`; 0: not given."""
        return float(self._parser(rules).crawl_delay("*") or 0) if rules else 0.0

    def _parser(self, rules: str) -> Protego:
        parser = self._parsed.get(rules)
        if parser is None:
            parser = self._parsed[rules] = Protego.parse(rules)
            self._n_characters += len(rules)
            while self._n_characters > self._max_characters and len(self._parsed) > 1:
                self._n_characters -= len(self._parsed.popitem(last=False)[0])
        else:
            self._parsed.move_to_end(rules)
        return parser


def _lines_for(agent: str, body: bytes, rule: re.Pattern[str]) -> list[str]:
    """The lines that match `rule`, of the groups that are for `agent`."""
    groups: list[tuple[set[str], list[str]]] = []
    for line in _lines(body):
        if found := _AGENT.match(line):
            if not groups or groups[-1][1]:
                groups.append((set(), []))
            name = found[1].strip().lower()
            if name := name if name == "*" else name.replace("*", ""):
                groups[-1][0].add(name)
        elif groups and rule.match(line):
            groups[-1][1].append(line)
    named = {name for agents, _ in groups for name in agents if _is_in(name, agent.lower())}
    best = max(named, key=lambda name: (len(name), name), default="*")
    return [line for agents, lines in groups if best in agents for line in lines]


def _lines(body: bytes) -> list[str]:
    text = body[:MAX_BYTES].decode("utf-8-sig", "ignore")
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def _is_in(name: str, agent: str) -> bool:
    """Is `name` in `agent`, from the beginning of a word on?"""
    place = agent.find(name)
    while place > 0 and (agent[place - 1].isalnum() or agent[place - 1] in "-_"):
        place = agent.find(name, place + 1)
    return place >= 0
