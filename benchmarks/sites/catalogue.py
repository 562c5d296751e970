"""The sites that are judged: where each begins, and what holds the content of its pages."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SITES = Path(__file__).parents[1] / "sites.tsv"

_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Site:
    """A site to be crawled.

    Attributes:
        folder: of its files.
        select, remove: its pages' content, as `Container` takes them.
        starts: paths where the crawl begins.
        lists: patterns of files; if there are any, these are crawled, and no links are followed.
        hosts: whose absolute links lead into the folder.
    """

    name: str
    folder: Path
    select: str
    remove: str = ""
    starts: Sequence[str] = ("",)
    lists: Sequence[str] = ()
    hosts: Sequence[str] = ()


def read_sites(folder: Path, names: Sequence[str] = (), path: Path = SITES) -> list[Site]:
    """The sites of the catalogue, or those that are named, each in a folder of its name.

    Raises:
        ValueError: a name is not in the catalogue.
    """
    with path.open(encoding="utf-8", newline="") as lines:
        rows = {row["site"]: row for row in csv.DictReader(lines, delimiter="\t")}
    if unknown := [name for name in names if name not in rows]:
        raise ValueError(f"NAME must be among {', '.join(rows)}, got {', '.join(unknown)}")
    return [_site(rows[name], folder / name) for name in names or rows]


def split(text: str) -> tuple[str, ...]:
    """What stands between commas; nothing for "" and "-"."""
    return tuple(filter(None, map(str.strip, text.split(",")))) if text != _NOTHING else ()


def _site(row: dict[str, str], folder: Path) -> Site:
    return Site(
        name=row["site"],
        folder=folder,
        select=row["content"],
        remove="" if row["furniture"] == _NOTHING else row["furniture"],
        starts=split(row["start"]) or ("",),
        lists=split(row["list"]),
        hosts=split(row["rewrite"]),
    )
