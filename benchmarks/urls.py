"""`python -m benchmarks urls`: the URL filter beside its peers, and with a store."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.index import WrongAnswerError
from benchmarks.measure import in_child, peer, resident_bytes, timed
from dedup.store import store_path
from dedup.store.sql.url_table import UrlTable
from dedup.store.sqlite.database import Database
from dedup.urls import SeenUrls

ERROR_RATE = 1e-6
_CHUNK = 10_000
_LOOKUPS = 200_000  # asked in turn: twice what our memory of recent answers holds
_PAGE = 100  # keys that are asked at once: the links of a page
_RUNS = 3
# Expected are 0.2, or 1.8 of the filter that grows by pybloom's own rule: chance keeps below 13.
_MOST_FALSE = 12

Figures = dict[str, Any]
Keys = list[bytes]


@dataclass(frozen=True, slots=True)
class Filter:
    """A set of keys, and how it is told and asked.

    Attributes:
        add: of keys that are new.
        has: one key.
        unseen: the number of new ones among many; None: it is asked one by one.
        size_bytes: memory by its own account; None: it gives none.
        first_capacity: keys after which it grows.
    """

    add: Callable[[Keys], object]
    has: Callable[[bytes], bool]
    unseen: Callable[[Keys], int] | None = None
    size_bytes: Callable[[], int] | None = None
    first_capacity: int = 0


def _ours(initial_capacity: int) -> Filter:
    seen = SeenUrls(None, error_rate_target=ERROR_RATE, initial_capacity=initial_capacity)
    return Filter(
        add=seen.mark,
        has=lambda key: not seen.unseen([key]),
        unseen=lambda keys: len(seen.unseen(keys)),
        size_bytes=lambda: seen.filter_bytes,
        first_capacity=initial_capacity,
    )


def _python_set() -> Filter:
    keys: set[bytes] = set()

    def add(batch: Keys) -> None:
        for key in batch:
            fingerprint = key + b"sha1"  # 20 bytes, as long as Scrapy's
            if fingerprint not in keys:
                keys.add(fingerprint)

    return Filter(add=add, has=lambda key: key + b"sha1" in keys)


def _pybloom(filter_: Any) -> Filter:
    def add(batch: Keys) -> None:
        for key in batch:
            filter_.add(key)

    return Filter(add=add, has=filter_.__contains__)


def _contenders(count: int) -> dict[str, Callable[[], Filter]]:
    pybloom = peer("pybloom_live")
    return {
        "SeenUrls, grown from 100,000": lambda: _ours(min(100_000, count)),
        "SeenUrls, made for all": lambda: _ours(count),
        "set of bytes (Scrapy's dupefilter)": _python_set,
        "pybloom_live.BloomFilter": lambda: _pybloom(pybloom.BloomFilter(count, ERROR_RATE)),
        "pybloom_live.ScalableBloomFilter": lambda: _pybloom(
            pybloom.ScalableBloomFilter(100_000, ERROR_RATE)
        ),
    }


def compare(count: int, seed: int) -> Iterator[Figures]:
    """Each contender in a process of its own, with the same keys and look-ups."""
    for name in _contenders(count):
        yield in_child(measure, name, count, seed)


def measure(name: str, count: int, seed: int) -> Figures:
    """Fill a filter with so many keys, check its answers, then time it; for a child process.

    Raises:
        WrongAnswerError: a key that is there was not found, or too many that are not there were.
    """
    known_keys = _known(count, seed)
    new_keys = [key for chunk in chunks(_LOOKUPS, seed + 1) for key in chunk]
    before, worst, total, seconds = resident_bytes(), 0.0, 0, 0.0
    filter_ = _contenders(count)[name]()
    for chunk in chunks(count, seed):
        start = time.perf_counter()
        filter_.add(chunk)
        seconds += time.perf_counter() - start
        total += len(chunk)
        if filter_.size_bytes and total >= filter_.first_capacity:
            worst = max(worst, filter_.size_bytes() / total)
    memory = resident_bytes() - before
    missed, false = _check(name, filter_, known_keys, new_keys)
    figures = {
        "filter": name,
        "urls": count,
        "bytes_a_url": memory / count,
        "stated": filter_.size_bytes() / count if filter_.size_bytes else None,
        "stated, worst moment": worst or None,
        "marks_per_second": count / seconds,
        "false_positives": false,
        "missed": missed,
    }
    for kind, keys in (("new", new_keys), ("known", known_keys)):
        figures[f"single_{kind}"] = asdict(
            timed(partial(_each, filter_.has, keys), len(keys), _RUNS)
        )
        if filter_.unseen:
            pages = [keys[place : place + _PAGE] for place in range(0, len(keys), _PAGE)]
            call = partial(_each, filter_.unseen, pages)
            figures[f"pages_{kind}"] = asdict(timed(call, len(keys), _RUNS))
    return figures


def with_store(count: int, seed: int, folder: Path) -> Figures:
    """The exact answers of a filter and a store on disk, after a restart; for a child process.

    Raises:
        WrongAnswerError: an answer is not exact.
    """
    path = store_path(folder)
    _fill(path, count, seed)
    with closing(Database(path)) as database:
        table = UrlTable(database)
        seen = SeenUrls(table, error_rate_target=ERROR_RATE, initial_capacity=count)
        start = time.perf_counter()
        seen.load(table.keys())
        seconds = time.perf_counter() - start
        rates = _exact_rates(seen, count, seed)
    return {
        "urls": count,
        "store_bytes": path.stat().st_size,
        "load_seconds": seconds,
        "filter, bytes a URL": seen.filter_bytes / count,
        **rates,
    }


def _exact_rates(seen: SeenUrls, count: int, seed: int) -> Figures:
    known = _known(count, seed)
    new = [key for chunk in chunks(_LOOKUPS, seed + 1) for key in chunk]
    if seen.unseen(new) != new or seen.unseen(known):
        raise WrongAnswerError("filter and store must tell new and known keys apart, and did not")
    rates = {}
    for kind, keys in (("new", new), ("known", known)):
        for size in (1, _PAGE):
            pages = [keys[place : place + size] for place in range(0, len(keys), size)]
            timing = timed(partial(_each, seen.unseen, pages), len(keys), _RUNS)
            rates[f"{kind}, {size} at once"] = asdict(timing)
    return rates


def chunks(count: int, seed: int) -> Iterator[Keys]:
    """Random keys of 16 bytes; fewer of them are the first of more."""
    rng = np.random.default_rng(seed)
    for start in range(0, count, _CHUNK):
        raw = rng.bytes(16 * _CHUNK)
        size = min(_CHUNK, count - start)
        yield [raw[place : place + 16] for place in range(0, 16 * size, 16)]


def _check(name: str, filter_: Filter, known: Keys, new: Keys) -> tuple[int, int]:
    missed = sum(not filter_.has(key) for key in known)
    false = sum(map(filter_.has, new))
    if missed or false > _MOST_FALSE:
        raise WrongAnswerError(f"{name} missed {missed} keys, and took {false} new ones for seen")
    return missed, false


def _each(ask: Callable[[Any], object], questions: Sequence[Any]) -> None:
    for question in questions:
        ask(question)


def _known(count: int, seed: int) -> Keys:
    step = max(count // _LOOKUPS, 1)
    return [key for chunk in chunks(count, seed) for key in chunk[::step]][:_LOOKUPS]


def _fill(path: Path, count: int, seed: int) -> None:
    with closing(Database(path)) as database:
        for chunk in chunks(count, seed):
            UrlTable(database).finish(
                (key, f"https://example.org/{key.hex()[:24]}.html") for key in chunk
            )
            database.commit()
