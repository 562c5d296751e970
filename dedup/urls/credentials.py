"""Names and passwords in URLs (`http://user:pass@host/`): taken out before a URL is used."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from dedup.urls.parts import trimmed

_USERINFO = re.compile(r"(?i)^(https?:[/\\]*)([^/?#\\]*)@")
"""Up to the last "@" of the authority, as browsers read it."""


class Credentials(NamedTuple):
    """What a URL says besides where it leads; both are "" where it says nothing."""

    user: str
    password: str


def without_credentials(url: str) -> str:
    """The URL without name and password.

    >>> without_credentials("http://user:pass@a.example/b@c")
    'http://a.example/b@c'
    """
    return _USERINFO.sub(r"\1", trimmed(url), count=1) if "@" in url else url


def credentials_of(url: str) -> Credentials:
    """Name and password in a URL, decoded."""
    found = _USERINFO.match(trimmed(url))
    user, _, password = found[2].partition(":") if found else ("", "", "")
    return Credentials(unquote(user), unquote(password))
