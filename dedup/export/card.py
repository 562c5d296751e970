"""The card of a dataset, `README.md`: what it holds, for people and for the package `datasets`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dedup.collection.writing.kinds import TIMESTAMP, Kind

_LISTED_HOSTS = 10
_SIZES = ("n<1K", 10**3), ("1K<n<10K", 10**4), ("10K<n<100K", 10**5), ("100K<n<1M", 10**6)
_LARGE = ("1M<n<10M", 10**7), ("10M<n<100M", 10**8), ("100M<n<1B", 10**9)


class CardFacts(NamedTuple):
    """What a card tells.

    Attributes:
        name: of the job.
        columns: with their types.
        n_pages: rows.
        n_duplicates: pages that were left out.
        n_bytes: of the data, and of its files.
        hosts: of the pages, those with most pages first.
        languages: codes of ISO 639.
        times: of the first and the last fetch; [] without pages.
        options: of the export, which leave out pages or passages.
    """

    name: str
    columns: Mapping[str, Kind]
    n_pages: int
    n_duplicates: int
    n_bytes: int
    n_packed_bytes: int
    hosts: Sequence[str]
    languages: Sequence[str]
    times: Sequence[str]
    options: Sequence[str]


def card(facts: CardFacts) -> str:
    """The text of the file."""
    return "\n".join(["---", *_front_matter(facts), "---", "", *_told(facts), ""])


def _front_matter(facts: CardFacts) -> Iterator[str]:
    """What programs read, in YAML."""
    yield f"pretty_name: {_quoted(facts.name)}"
    if facts.languages:
        yield "language:"
        yield from (f"- {_quoted(code)}" for code in facts.languages)
    yield f"size_categories:\n- {_size(facts.n_pages)}"
    yield "configs:\n- config_name: default\n  data_files:\n  - split: train"
    yield "    path: data/train-*.parquet"
    yield "dataset_info:\n  features:"
    for name, kind in facts.columns.items():
        yield from _feature(name, kind, "  ")
    yield f"  splits:\n  - name: train\n    num_bytes: {facts.n_bytes}"
    yield f"    num_examples: {facts.n_pages}"
    yield f"  download_size: {facts.n_packed_bytes}\n  dataset_size: {facts.n_bytes}"


def _feature(name: str, kind: Kind, indent: str) -> Iterator[str]:
    yield f"{indent}- name: {_quoted(name)}"
    yield from _type("dtype", kind, f"{indent}  ")


def _type(word: str, kind: Kind, indent: str) -> Iterator[str]:
    """The lines of a type; `word` stands before the name of a simple one."""
    if isinstance(kind, str):
        yield f"{indent}{word}: {'timestamp[ms, tz=UTC]' if kind == TIMESTAMP else kind}"
    elif isinstance(kind, Mapping):
        yield f"{indent}{'struct' if word == 'dtype' else word}:"
        for name, each in kind.items():
            yield from _feature(name, each, indent)
    elif word == "dtype":
        yield from _type("list", kind[0], indent)
    else:
        yield f"{indent}{word}:"
        yield from _type("list", kind[0], f"{indent}  ")


def _told(facts: CardFacts) -> Iterator[str]:
    """What people read."""
    hosts = [re.sub(r"[^\w.:\[\]-]", "?", host) for host in facts.hosts[:_LISTED_HOSTS]]
    listed = ", ".join(hosts) or "no host"
    n_more = len(facts.hosts) - _LISTED_HOSTS
    more = f" and {n_more:,} more hosts" if n_more > 0 else ""
    period = f", fetched from {facts.times[0]} to {facts.times[1]}" if facts.times else ""
    yield f"# {' '.join(facts.name.split())}\n"
    yield f"{facts.n_pages:,} pages of {listed}{more}{period} by scrapy-dedup."
    yield f"{facts.n_duplicates:,} duplicates were left out.\n"
    if facts.options:
        options = " ".join(" ".join(facts.options).replace("`", "?").split())
        yield f"Pages or passages were left out by options of the export: `{options}`.\n"
    yield "No licence is stated: the texts belong to their authors. Name one above (`license:`)"
    yield "before you publish the dataset, or say on what terms its pages may be used.\n"
    yield "```python"
    yield "from datasets import load_dataset\n"
    yield 'pages = load_dataset("PATH OF THIS FOLDER", split="train")'
    yield "```"


def _size(n_rows: int) -> str:
    return next((name for name, limit in (*_SIZES, *_LARGE) if n_rows < limit), "n>1B")


def _quoted(text: str) -> str:
    return json.dumps(text)
