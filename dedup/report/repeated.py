"""Passages that stand in the texts of many pages of a host, counted on its stored pages."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dedup.repetition import MIN_PAGES, Counts, count_lines, find_passages
from dedup.store import JobStore

SHARE = 0.1
"""A passage on fewer pages of its host is not listed."""

MAX_HOSTS = 20
MAX_PAGES = 2_000
"""Pages of each host."""

MAX_CHARACTERS = 60_000_000
"""Of all texts: takes about 3 s. One host has at most half of it."""

MAX_PASSAGES = 10
_SHOWN_WORDS = 20
_SHOWN_CHARACTERS = 160


def repeated_passages(store: JobStore) -> list[dict[str, Any]]:
    """Return the repeated passages of the hosts with the most pages, for hosts that have any.

    Each host has its `host`, the number of its stored `pages` and of those that were `read`, evenly
    distributed; how many words are `repeated` on these; and the number of passages as `n_passages`.
    Each of the `passages`, at most ten, those with the most words on all pages first, has its
    beginning as `text`, its number of `words`, and on how many `pages` of those read it stands.
    """
    sizes = {host: sum(each.values()) for host, each in store.report.sources_by_host().items()}
    hosts = sorted((each for each in sizes if each), key=lambda host: (-sizes[host], host))
    chosen = {host: sizes[host] for host in hosts[:MAX_HOSTS] if sizes[host] >= MIN_PAGES}
    numbers = _evenly(store, chosen)
    share = min(MAX_CHARACTERS // 2, MAX_CHARACTERS // max(1, len(chosen)))
    found = (_described(host, sizes[host], _texts(store, numbers[host], share)) for host in chosen)
    return [each for each in found if each is not None]


def _evenly(store: JobStore, sizes: dict[str, int]) -> dict[str, list[int]]:
    """The numbers of the pages of hosts that are read."""
    numbers: dict[str, list[int]] = {host: [] for host in sizes}
    seen = Counter[str]()
    for host, number in store.report.hosts_of_pages():
        if host in sizes:
            seen[host] += 1
            at_most = min(MAX_PAGES, sizes[host])
            if len(numbers[host]) < seen[host] * at_most // sizes[host]:
                numbers[host].append(number)
    return numbers


def _texts(store: JobStore, numbers: Sequence[int], max_characters: int) -> list[str]:
    """Texts of a host, from the first page on."""
    texts: list[str] = []
    size = 0
    for number in numbers:
        text = store.report.page(number).text
        size += len(text)
        if texts and size > max_characters:
            break
        texts.append(text)
    return texts


def _described(host: str, n_pages: int, texts: Sequence[str]) -> dict[str, Any] | None:
    counts = count_lines(((host, text) for text in texts), SHARE, Path(tempfile.gettempdir()))
    words, pages = _counted(counts, host, texts)
    if not pages:
        return None
    order = sorted(pages, key=lambda line: (-words[line] * pages[line], line))
    return {
        "host": host,
        "pages": n_pages,
        "read": len(texts),
        "repeated": sum(words[line] * pages[line] for line in pages),
        "n_passages": len(pages),
        "passages": [
            {"text": _beginning(line), "words": words[line], "pages": pages[line]}
            for line in order[:MAX_PASSAGES]
        ],
    }


def _counted(
    counts: Counts, host: str, texts: Sequence[str]
) -> tuple[dict[str, int], Counter[str]]:
    """The words of each repeated line, and its pages."""
    words: dict[str, int] = {}
    pages = Counter[str]()
    for text in texts if len(counts.keys) else ():
        if found := find_passages(counts, host, text):
            for line, size, is_repeated in zip(*found, strict=True):
                if is_repeated:
                    words[line] = size
                    pages[line] += 1
    return words, pages


def _beginning(line: str) -> str:
    """Its first words.

    >>> _beginning("one " * 30)[-9:]
    'one one …'
    """
    shown = " ".join(line.split(None, _SHOWN_WORDS)[:_SHOWN_WORDS])[:_SHOWN_CHARACTERS]
    return line if len(shown) >= len(line.strip()) else f"{shown} …"
