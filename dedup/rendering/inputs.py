"""What the text of a rendered page was made from, so that a visit can tell whether it is the same.

A page that scripts make is its raw body (the shell), the scripts, and the answers to what these ask
for. Where all of them are the same, the page is, unless its text depends on something else besides:
the time, chance, or what the browser keeps. So such pages are checked by rendering some of them,
see `is_checked`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from dedup.rendering.learner import AUDIT_PAGES, is_audited

MAX_ANSWERS = 16
"""Answers with data. A page with more is rendered: asking for each would cost its server more."""

MAX_SCRIPTS = 64
"""They are the same for most pages of a site, and are fetched once in a refresh."""

_MAX_CHARACTERS = 32_000
"""Of all that is kept of a page."""

_DAY_SECONDS = 86_400.0
_MIN_DIGITS = 8
"""A fraction with so many digits is a random number, not an amount."""


class Answer(NamedTuple):
    """An answer that a page was made from.

    Attributes:
        digest: of its body, see `digest_of`.
        etag, last_modified: with which a server tells whether it is the same; "": it gave none.
    """

    url: str
    digest: str
    etag: str = ""
    last_modified: str = ""

    @property
    def validators(self) -> dict[str, str]:
        """The headers of a conditional request."""
        found = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in found.items() if value}


class Inputs(NamedTuple):
    """What the text of a page was made from.

    Attributes:
        shell: see `shell_digest`.
        answers: to the requests of its scripts, and the scripts that they loaded.
    """

    shell: str
    answers: tuple[Answer, ...] = ()


def digest_of(body: bytes) -> str:
    """The first 16 bytes of the SHA-256 of a body, in hexadecimal."""
    return sha256(body).hexdigest()[:32]


def shell_digest(body: bytes, max_scrolls: int) -> str:
    """A digest of a page's raw body, and of how often it may be scrolled when it is rendered."""
    return digest_of(b"%d\n%b" % (max_scrolls, body))


def is_for_once(url: str, now: float) -> bool:
    """Has a URL a value that is another one each time: the time, or a random number?

    An answer to the URL of another day tells nothing: a cache may have kept it. `now`: seconds
    since 1970.

    >>> is_for_once("http://a.example/data?_=1700000000123", 1_700_000_100.0)
    True
    >>> is_for_once("http://a.example/data?page=12", 1_700_000_100.0)
    False
    """
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return True
    return any(_is_time(each, now) or _is_fraction(each) for pair in pairs for each in pair)


def _is_time(value: str, now: float) -> bool:
    if not (value.isascii() and value.isdigit() and len(value) <= 20):
        return False
    return any(abs(int(value) / unit - now) < _DAY_SECONDS for unit in (1, 1e3, 1e6, 1e9))


def _is_fraction(value: str) -> bool:
    whole, _, rest = value.partition(".")
    return whole in ("", "0") and len(rest) >= _MIN_DIGITS and rest.isascii() and rest.isdigit()


def same_requests(before: Sequence[Answer], after: Sequence[Answer]) -> bool:
    """Did two renderings of a page ask for the same, but for what is asked in other places?

    False: the query of a URL changes from one time to the next.
    """
    old, new = ({each.url for each in answers} for answers in (before, after))
    places = {url.partition("?")[0] for url in old - new if "?" in url}
    return not any(url.partition("?")[0] in places for url in new - old)


def is_checked(n_before: int) -> bool:
    """Is a page that seems to be the same rendered to see whether it is?

    The first one of a host is, and then one of each 33, at a place that is not the same each time.

    Args:
        n_before: pages of the host that seemed to be the same, in all refreshes.
    """
    return is_audited(0, n_before) if n_before >= AUDIT_PAGES else n_before == 0


def to_json(answers: Sequence[Answer]) -> str | None:
    """Answers as the store keeps them; None: they are too long."""
    text = json.dumps(answers, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= _MAX_CHARACTERS else None


def from_json(text: str) -> tuple[Answer, ...] | None:
    """What `to_json` has made; None: it is damaged."""
    try:
        found = tuple(Answer(*each) for each in json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None
    return found if all(isinstance(part, str) for each in found for part in each) else None
