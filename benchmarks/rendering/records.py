"""The texts that the sites show: news articles and laws, each once, but for a few copies."""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COPIES = 10  # a site's last articles are copies of its first
_MOST_PARAGRAPHS = 25
_LEAST_WORDS, _LEAST_LINES, _LEAST_CHARACTERS = 120, 5, 600


@dataclass(frozen=True, slots=True)
class Record:
    """A page's own text.

    Attributes:
        slug: unique in its site.
    """

    slug: str
    title: str
    section: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join((self.title, *self.paragraphs))


def news(data: Path, start: int, count: int) -> list[Record]:
    """English articles from `start` on, without those that resemble another."""
    with (data / "bbc.pairs.tsv").open(encoding="utf-8") as lines:
        alike = {name for line in lines for name in line.split("\t")[:2]}
    found = (
        _record(f"{Path(row['id']).parent.name}-{Path(row['id']).stem}", row["text"], row["id"])
        for row in _rows(data / "bbc.jsonl.xz")
        if row["id"] not in alike and _is_long(row["text"])
    )
    return _with_copies(_mixed([*found]), start, count)


def laws(data: Path, start: int, count: int) -> list[Record]:
    """Chinese laws from `start` on, of each law one version."""
    found: dict[str, Record] = {}
    for row in _rows(data / "laws.jsonl.xz"):
        name = re.sub(r"[\s(（].*", "", Path(row["id"]).stem)
        text = re.sub(r"<!--.*?-->|^#+ ?", "", row["text"], flags=re.M | re.S)
        if len(text) >= _LEAST_CHARACTERS and name not in found:
            found[name] = _record(f"law-{len(found)}", text, row["id"])
    return _with_copies(_mixed([*found.values()]), start, count)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _record(slug: str, text: str, place: str) -> Record:
    title, *paragraphs = filter(None, map(str.strip, text.splitlines()))
    return Record(slug, title, Path(place).parent.name, tuple(paragraphs[:_MOST_PARAGRAPHS]))


def _is_long(text: str) -> bool:
    lines = list(filter(str.strip, text.splitlines()))
    return len(text.split()) >= _LEAST_WORDS and len(lines) >= _LEAST_LINES


def _mixed(records: list[Record]) -> list[Record]:
    """In another order than the source's, which has one section after the other."""
    step = 37
    return [record for first in range(step) for record in records[first::step]]


def _with_copies(records: list[Record], start: int, count: int) -> list[Record]:
    chosen = records[start : start + count - _COPIES]
    copies = (
        Record(f"{each.slug}-copy", each.title, each.section, each.paragraphs)
        for each in chosen[:_COPIES]
    )
    return [*chosen, *copies]
