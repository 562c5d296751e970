"""A folder that the package `datasets` opens: files of Parquet, and the card that tells of them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from dedup.collection.writing.kinds import Kind
from dedup.export.card import CardFacts, card
from dedup.export.partitions import write_parquet
from dedup.extras import load_extra
from dedup.urls.parts import host_of

_SHARD_BYTES = 500_000_000
"""What `datasets` itself writes to one file, at most."""

_LOOK_ROWS = 1_000
"""Rows after which the size of the file is looked at: as many are written together."""

_CODE = re.compile(r"([a-z]{2,3})(?:-|$)", re.IGNORECASE)


def write_dataset(
    folder: Path,
    name: str,
    rows: Iterable[Mapping[str, Any]],
    columns: Mapping[str, Kind],
    *,
    n_duplicates: int,
    options: Sequence[str] = (),
    shard_bytes: int = _SHARD_BYTES,
) -> None:
    """Write `data/train-*.parquet` and `README.md` to an empty folder.

    Args:
        folder: where to.
        name: of the job.
        rows: each with all columns, and `url` and `fetched_at`.
        columns: with their types.
        n_duplicates: pages that were left out.
        options: of the export, which leave out pages or passages.
        shard_bytes: the size from which on another file is begun.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        OSError: a file cannot be written.
    """
    seen = _Seen(Counter(), Counter(), [])
    data = folder / "data"
    data.mkdir()
    paths = _write_shards(data, seen.noting(rows), columns, shard_bytes)
    for number, path in enumerate(paths):
        path.replace(data / f"train-{number:05}-of-{len(paths):05}.parquet")
    facts = CardFacts(
        name=name,
        columns=columns,
        n_pages=seen.hosts.total(),
        n_duplicates=n_duplicates,
        n_bytes=_unpacked_bytes(data),
        n_packed_bytes=sum(path.stat().st_size for path in data.iterdir()),
        hosts=[host for host, _ in seen.hosts.most_common() if host],
        languages=sorted(
            code for code, n in seen.languages.items() if n * 100 >= seen.hosts.total()
        ),
        times=seen.times,
        options=options,
    )
    (folder / "README.md").write_text(card(facts), encoding="utf-8", errors="replace")


class _Seen(NamedTuple):
    """What is counted of the rows that pass."""

    hosts: Counter[str]
    languages: Counter[str]
    times: list[str]
    """The first and the last."""

    def noting(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        for row in rows:
            self.hosts[host_of(row["url"])] += 1
            if code := _CODE.match(row.get("language") or ""):
                self.languages[code[1].lower()] += 1
            found = [*self.times, row["fetched_at"]]
            self.times[:] = min(found), max(found)
            yield row


def _write_shards(
    folder: Path,
    rows: Iterator[Mapping[str, Any]],
    columns: Mapping[str, Kind],
    shard_bytes: int,
) -> list[Path]:
    """Write files of about one size, and at least one."""
    paths: list[Path] = []
    first: list[Mapping[str, Any]] = []
    while first or not paths:
        path = folder / f"{len(paths)}.parquet"
        write_parquet(path, chain(first, _until_full(path, rows, shard_bytes)), columns)
        paths.append(path)
        first = [row for row in [next(rows, None)] if row is not None]
    return paths


def _until_full(
    path: Path, rows: Iterator[Mapping[str, Any]], shard_bytes: int
) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(rows, start=1):
        yield row
        if number % _LOOK_ROWS == 0 and path.stat().st_size >= shard_bytes:
            return


def _unpacked_bytes(folder: Path) -> int:
    parquet = load_extra("pyarrow.parquet", extra="parquet", purpose="Parquet")
    about = [parquet.read_metadata(path) for path in folder.iterdir()]
    return sum(
        each.row_group(place).total_byte_size
        for each in about
        for place in range(each.num_row_groups)
    )
