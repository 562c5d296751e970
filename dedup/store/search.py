"""Full-text search over a job's pages, by SQLite's FTS5 in a temporary file.

FTS5 finds words between spaces and signs; Chinese texts are cut into words before.

Source: SQLite, FTS5 extension; ranked by BM25 (Robertson, Zaragoza, 2009), the title three times.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from itertools import chain, dropwhile
from typing import NamedTuple

from dedup.store import JobStore
from dedup.store.selection import Selection
from dedup.text.chinese_words import segments

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_SIGNS = "\u3000-\u303f\uff00-\uffef"
_BETWEEN_HAN = re.compile(f"(?<=[{_HAN}{_SIGNS}]) (?=[{_HAN}{_SIGNS}])")

_MARGIN_SECONDS = 3_600
"""New versions are looked for from so long before the last search: they are stored later than they
are fetched."""

_SNIPPET_WORDS = 40
_MAX_FOUND = 100


class Found(NamedTuple):
    """A page that was found.

    Attributes:
        excerpt: of its text, around the words.
        score: the higher, the better.
    """

    url: str
    title: str
    excerpt: str
    score: float


class Search:
    """The words of one job's pages. Calls may come from any thread, one after the other."""

    def __init__(self) -> None:
        self._index = sqlite3.connect(
            "", check_same_thread=False
        )  # a file that is deleted at the end
        self._index.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(title, text, tokenize = 'porter unicode61')"
        )
        self._last = 0
        self._read_at = 0.0

    def find(self, store: JobStore, words: str, *, limit: int) -> list[Found]:
        """The pages with all these words, the best first.

        Raises:
            ValueError: there are no words, or `limit` is not 1 to 100.
        """
        if not 1 <= limit <= _MAX_FOUND:
            raise ValueError(f"limit must be 1 to {_MAX_FOUND}, got {limit!r}")
        asked = re.findall(r"\w+", cut(words))
        if not asked:
            raise ValueError(f"words must have a letter or a digit, got {words!r}")
        self._read(store)
        query = " ".join(f'"{word}"' for word in asked)
        rows = self._index.execute(
            "SELECT rowid, snippet(pages, 1, '', '', '…', ?), -bm25(pages, 3, 1) AS score"
            " FROM pages WHERE pages MATCH ? ORDER BY score DESC, rowid LIMIT ?",
            (_SNIPPET_WORDS, query, limit),
        ).fetchall()
        return [_found(store, *row) for row in rows]

    def _read(self, store: JobStore) -> None:
        """Take in the pages that are new, or have a new version."""
        began = time.time()
        changed: Iterator[int] = iter(())
        if self._last:
            changed = store.exports.page_numbers(Selection(since=self._read_at - _MARGIN_SECONDS))
        new = dropwhile(lambda number: number <= self._last, store.exports.page_numbers())
        with self._index:
            for number in chain(changed, new):
                page = store.page(number)
                self._index.execute("DELETE FROM pages WHERE rowid = ?", [number])
                self._index.execute(
                    "INSERT INTO pages (rowid, title, text) VALUES (?, ?, ?)",
                    [number, cut(page.title), cut(page.text)],
                )
                self._last = max(self._last, number)
        self._read_at = began


def cut(text: str) -> str:
    """The text with spaces between its Chinese words.

    >>> cut("Scrapy爬虫框架")
    'Scrapy 爬虫 框架 '
    """
    text = text.encode("utf-8", "replace").decode()  # halves of surrogate pairs
    return _HAN_RUN.sub(lambda run: f" {' '.join(segments(run[0]))} ", text)


def _found(store: JobStore, number: int, excerpt: str, score: float) -> Found:
    page = store.page(number)
    shown = _BETWEEN_HAN.sub("", " ".join(excerpt.split()))
    return Found(page.url or "", page.title, shown, round(score, 3))
