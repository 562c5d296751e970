"""A page's own name: its title without the site's part, and its first heading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

from dedup.text import normalise

_VERSION = re.compile(r"(?i)\bv?\d+(?:\.\d+)+\w*|\bv\d+\b")
"""`3.5.1`, `v2`, `1.0rc1`; not a year, which is often the only difference between two names."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
"""In the common part of a site's titles, a year is a version, too."""

_BETWEEN_PARTS = re.compile(
    r"\s+[-:/~\u2010-\u2015]+\s+|\s*[|\u00a6\u00ab\u00bb\u00b7\u2022\u203a\u2039\u2014]+\s*"
)
"""Separates the parts of a title: dashes between blanks, and bars with or without blanks."""

_INDEX_FILE = re.compile(r"/(?:index|default)\.\w{2,5}$", re.IGNORECASE)

_REMEMBERED_NAMES = 4_096
_REMEMBERED_CHARACTERS = 200
"""Names that are remembered: a site's part is in all titles, and names are compared repeatedly."""

_MOST_PARTS = 4
"""Parts of a title that are told apart where it is not known which the site's are."""

_ENDING = re.compile(r"\.[a-z]{2,5}$", re.IGNORECASE)


def split_title(title: str) -> list[str]:
    """The parts of a title in lower case, without versions and years.

    >>> split_title("Indexing — pandas 1.5.3 documentation")
    ['indexing', 'pandas documentation']
    """
    return [part for piece in _BETWEEN_PARTS.split(title) if (part := _site_part(piece))]


def is_in_title(heading: str, title: str) -> bool:
    """Is the heading the title, or one of its parts?

    >>> is_in_title("Open API", "Open API | Nacos"), is_in_title("Any ideas?", "Open API | Nacos")
    (True, False)
    """
    name = comparable_name(heading)
    return any(name == comparable_name(part) for part in (title, *_BETWEEN_PARTS.split(title)))


def own_title(title: str, site_parts: Collection[str]) -> str:
    """The title without the parts common to the site's titles; "" if nothing is left.

    >>> own_title("Indexing — pandas 1.5.3 documentation", {"pandas documentation"})
    'Indexing'
    """
    if not site_parts:
        return title
    pieces = [piece.strip() for piece in _BETWEEN_PARTS.split(title)]
    own = [piece for piece in pieces if piece and _site_part(piece) not in site_parts]
    return " - ".join(own)


def possible_own_titles(title: str) -> list[str]:
    """What `own_title` may give for a site whose part stands before or after the page's own.

    >>> possible_own_titles("Tea | Plants - Museum")
    ['Tea', 'Tea - Plants', 'Plants', 'Plants - Museum', 'Museum', '']
    """
    pieces = [piece for part in _BETWEEN_PARTS.split(title, _MOST_PARTS) if (piece := part.strip())]
    n_pieces = len(pieces)
    runs = (range(first, last + 1) for first in range(n_pieces) for last in range(first, n_pieces))
    return [" - ".join(pieces[n] for n in run) for run in runs if len(run) < n_pieces] + [""]


def _site_part(part: str) -> str:
    return " ".join(_YEAR.sub(" ", comparable_name(part)).split())


def comparable_name(name: str, *, versions: bool = False) -> str:
    r"""A name in lower case, except for signs of one letter; `versions` keeps its versions.

    >>> comparable_name("Guide (Kafka 3.3.2 API)") == comparable_name("GUIDE (Kafka 3.5 API)")
    True
    >>> comparable_name(r"\d") == comparable_name(r"\D")
    False
    """
    if len(name) > _REMEMBERED_CHARACTERS:
        return _comparable_name(name, versions=versions)
    return _remembered_name(name, versions=versions)


def _comparable_name(name: str, *, versions: bool) -> str:
    name = unicodedata.normalize("NFKC", name)
    words = (name if versions else _VERSION.sub(" ", name)).split()
    return " ".join(word if _is_sign(word, words) else normalise(word) for word in words)


_remembered_name = lru_cache(_REMEMBERED_NAMES)(_comparable_name)


def _is_sign(word: str, words: list[str]) -> bool:
    """Is it one letter with a sign, like an option or an escape, or one letter as a whole name?"""
    has_one_letter = sum(map(str.isalpha, word)) == 1
    return has_one_letter and (len(word) > 1 or len(words) == 1)


def name_of(title: str, heading: str) -> str:
    """The name that a page shares only with its copies, among the pages of its site."""
    return f"{comparable_name(title)}\n{comparable_name(heading)}"


def do_agree(first: str, second: str, *, versions: bool = False) -> bool:
    """Are two titles, or headings, the same except for versions? A missing one agrees with any.

    With `versions`, the versions must be the same, too.
    """
    if first == second or not first or not second:
        return True
    one, other = (comparable_name(name, versions=versions) for name in (first, second))
    return one == other


def url_file_name(url: str | None) -> str:
    """The last part of the path without its extension; for an index, the name of its folder."""
    path = _INDEX_FILE.sub("", urlsplit(url or "").path)
    return _ENDING.sub("", path.rstrip("/").rpartition("/")[2])
