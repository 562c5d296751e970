"""The groups of duplicates that a report lists, and the pairs of texts that it compares.

Both are bounded, so that a report of millions of pages still opens at once; the result tells how
much of the whole it holds.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from sqlite3 import Connection
from typing import Any, NamedTuple

from dedup.document import Document
from dedup.fingerprints import hamming_distance, simhash
from dedup.report.differences import Part, differences
from dedup.report.names import has_other_name
from dedup.report.texts import stored_text
from dedup.text import features

MAX_DUPLICATES = 20_000
"""Duplicates in the list, those of lowest resemblance: a megabyte or two of the file."""

MAX_COMPARED = 300
"""Pairs of texts whose differences are marked: half a second to two."""

MAX_EXCERPTS = 2_000
"""Groups, the largest, whose original is shown by its beginning."""

_EXCERPT_LENGTH = 400

_LISTED = """
SELECT d.number, original, d.url, d.host, d.title, stage, distance, resemblance, d.template,
    coalesce(d.own_title, d.title), d.heading, coalesce(p.own_title, p.title), p.heading
FROM duplicates AS d JOIN pages AS p ON p.number = d.original
ORDER BY coalesce(resemblance, 1), d.number LIMIT ?
"""
_TEXTS = """
SELECT p.text, coalesce(d.text, p.text) FROM duplicates AS d JOIN pages AS p
ON p.number = d.original WHERE d.number = ?
"""


class _Compared(NamedTuple):
    parts: list[Part]
    distance: int | None


Templates = Mapping[tuple[str, int | None], int]
"""Places in the list of templates, by host and number."""


def listed_groups(connection: Connection, templates: Templates | None = None) -> dict[str, Any]:
    """Return the originals, those with most duplicates first, and their duplicates.

    `originals` holds: URL, host, title, language, beginning of the text, template, how many
    duplicates are listed, how many there are. `duplicates`, those of the first original first: URL,
    host, title, stage, distance, resemblance, differences of the texts or None, the distance of
    their fingerprints where another stage than simhash found them, or None, template, and whether
    the original's name is another. Hosts and stages are places in the lists of that name, templates
    in what is given, or None. `distances` counts the distances of fingerprints.
    """
    templates = templates or {}
    rows = connection.execute(_LISTED, (MAX_DUPLICATES,)).fetchall()
    compared = dict(_compared(connection, rows))
    groups = [
        (original, list(members))
        # Sorting is stable: of each original the least alike duplicate comes first.
        for original, members in groupby(sorted(rows, key=lambda row: row[1]), lambda row: row[1])
    ]
    groups.sort(key=lambda group: -len(group[1]))
    totals = dict(connection.execute("SELECT original, count(*) FROM duplicates GROUP BY original"))
    hosts, stages = _Places(), _Places()
    return {
        "originals": [
            [
                *_original(connection, hosts, original, templates, place < MAX_EXCERPTS),
                len(members),
                totals[original],
            ]
            for place, (original, members) in enumerate(groups)
        ],
        "duplicates": [
            [
                *(url, hosts[host], title, stages[stage], distance, resemblance),
                *compared.get(number, (None, None)),
                templates.get((host, template)),
                has_other_name(*names),
            ]
            for _, members in groups
            for number, _, url, host, title, stage, distance, resemblance, template, *names in (
                members
            )
        ],
        "hosts": list(hosts),
        "stages": list(stages),
        "distances": Counter(
            pair.distance for pair in compared.values() if pair.distance is not None
        ),
        "listed": len(rows),
    }


class _Places(dict[str, int]):
    """Numbers names in the order in which they are met."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _original(
    connection: Connection,
    hosts: _Places,
    number: int,
    templates: Templates,
    is_shown: bool,
) -> tuple[str, int, str, str, str, int | None]:
    url, host, title, language, template, text = connection.execute(
        "SELECT url, host, title, language, template, text FROM pages WHERE number = ?", (number,)
    ).fetchone()
    excerpt = stored_text(connection, text)[:_EXCERPT_LENGTH] if is_shown else ""
    place = templates.get((host, template))
    return url or f"#{number}", hosts[host], title, language, excerpt, place


def _compared(connection: Connection, rows: list[Any]) -> Iterator[tuple[int, _Compared]]:
    """Compare half the pairs of lowest resemblance, and half evenly from the others.

    Equal bodies need no comparing.
    """
    candidates = [row for row in rows if row[5] != "body"]
    lowest, rest = candidates[: MAX_COMPARED // 2], candidates[MAX_COMPARED // 2 :]
    step = max(1, -(-len(rest) // (MAX_COMPARED - MAX_COMPARED // 2)))
    for number, _, _, _, _, _, distance, resemblance, *_ in lowest + rest[::step]:
        texts = connection.execute(_TEXTS, (number,)).fetchone()
        first, second = (stored_text(connection, text) for text in texts)
        has_distance = distance is None and resemblance is not None and resemblance < 1
        yield (
            number,
            _Compared(
                differences(first, second), _distance(first, second) if has_distance else None
            ),
        )


def _distance(first: str, second: str) -> int:
    """Bits in which 64-bit fingerprints by frequency differ, as the simhash stage makes them."""
    return hamming_distance(_fingerprint(first), _fingerprint(second))


def _fingerprint(text: str) -> int:
    document = Document(id="", text=text)
    return simhash(*features(document.normal_text, unspaced=document.is_unspaced))
