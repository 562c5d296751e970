"""Stores of collections that stay: a run's own, and an earlier one that is compared with."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from xxhash import xxh3_128

from dedup.collection.account import FileAccount
from dedup.collection.columns import Columns
from dedup.collection.deciding import Decider
from dedup.collection.judging import RowJudge
from dedup.collection.reading import read_rows
from dedup.collection.rules import Rules
from dedup.collection.signing import SigningProcesses, Work
from dedup.collection.sites import learn_sites, rare_lines, with_markup
from dedup.collection.sources import Source, find_sources
from dedup.collection.survivor import FIRST
from dedup.errors import StateError
from dedup.sites.site import Site
from dedup.sites.state import SiteState
from dedup.store import STORE_NAME
from dedup.store.records import KEY_STAGE
from dedup.store.sql.store import JobStore
from dedup.store.sqlite import SqliteStore

_GROUP_UNITS = 2_000
_GROUP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a collection is compared with: jobs, and files, which are one store.

    Attributes:
        stores: those of the jobs, and that of the files.
        sites: of each, what gives what its pages of a host repeat, as far as that is known.
        groups: where the rules name a column within which rows are compared, of each of its values
            the numbers of the documents in the only store.
    """

    stores: list[SqliteStore] = field(default_factory=list)
    sites: list[Callable[[str], Site | None]] = field(default_factory=list)
    groups: Mapping[str, range] = field(default_factory=dict)

    @property
    def pages(self) -> list[int]:
        """The last number in each store."""
        return [store.report.last_page() for store in self.stores]

    def close(self) -> None:
        for store in self.stores:
            store.close()


def open_job(
    folder: Path,
    rules: Rules,
    sources: list[Source],
    known: list[Source],
    baseline: Baseline,
    run: Any,
    *,
    contains: str | None = None,
) -> SqliteStore:
    """Open the store of a job, new or begun by the same command.

    Args:
        folder: of the job.
        rules: of the collection.
        sources: its files. They are read once for a digest, which takes seconds for each GB: what
            was decided holds for these bytes alone.
        known: the files that it is compared with.
        baseline: these and jobs; of several, the numbers of the first give those of the next.
        run: what else was asked for.
        contains: the digest of the evaluation sets whose passages are looked for.

    Raises:
        OSError: a file cannot be read.
        StateError: it was begun with other files or options, is a crawl's, or cannot be used.
    """
    wanted = {
        "files": [[source.name, _digest(source.path)] for source in sources],
        "columns": [run.columns.text, run.columns.html, run.columns.id, run.columns.url],
        "title": run.columns.title,
        "threshold": rules.threshold,
        "stages": list(rules.stages),
        "within": rules.within,
        **({"compare": list(rules.compare)} if rules.compare else {}),
        **{name: value for name, value in _reading(run.columns) if value is not None},
        "keep": ",".join(map(str, rules.criteria)) or FIRST,
        "against": [*(run.against or [None]), *(_digest(source.path) for source in known)],
        **({} if contains is None else {"contains": contains}),
        **({"pages": baseline.pages} if len(baseline.stores) > 1 else {}),
    }
    store = SqliteStore(
        folder / STORE_NAME,
        keep_bodies=False,
        group_units=_GROUP_UNITS,
        group_seconds=_GROUP_SECONDS,
    )
    try:
        found = store.meta("collection")
        if found is None:
            if store.meta("started") is not None or store.decisions.count():
                raise StateError(folder, "the folder holds a crawl's job", "Name another one")
            settings = {"DEDUP_NEAR_RESEMBLANCE": rules.threshold}
            store.set_meta("settings", json.dumps(settings))
            store.set_meta("started", repr(time.time()))
            store.set_meta("collection", json.dumps(wanted))
        elif json.loads(found) != wanted:
            begun = json.loads(found)
            names = dict.fromkeys([*wanted, *begun])
            differing = [name for name in names if begun.get(name) != wanted.get(name)]
            raise StateError(
                folder,
                f"the job was started with different {', '.join(differing)}",
                "Rerun the same command to resume, or name another folder",
            )
    except BaseException:
        store.close()
        raise
    return store


def _reading(columns: Columns) -> list[tuple[str, str | None]]:
    """How files are read, where that was named."""
    return [("delimiter", columns.delimiter), ("encoding", columns.encoding)]


def _digest(path: Path) -> str:
    digest = xxh3_128()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def find_baseline(against: Sequence[str], folder: Path) -> list[Source]:
    """The files that a collection is compared with; none: it is not, or with jobs alone.

    Raises:
        OSError, ValueError: see `find_files`.
    """
    return find_files(against, folder, option="--against")


def find_files(given: Sequence[str], folder: Path, *, option: str) -> list[Source]:
    """The files among files and jobs.

    Raises:
        OSError, ValueError: see `find_sources`.
        ValueError: a job is named twice.
    """
    jobs = [Path(each).resolve() for each in given if is_job(Path(each))]
    if len(set(jobs)) < len(jobs):
        raise ValueError(f"{option} must name each job once, got {' '.join(given)!r}")
    files = [each for each in given if not is_job(Path(each))]
    if not files:
        return []
    inputs = folder / option.removeprefix("--")
    inputs.mkdir()
    return find_sources(files, inputs, option=option)


def open_baseline(
    against: Sequence[str], sources: list[Source], rules: Rules, columns: Columns, folder: Path
) -> Baseline:
    """Open what a collection is compared with: jobs' folders, and files, which are read first.

    Args:
        against: folders of jobs, and files.
        sources: what `find_baseline` has found.
        rules: those of the collection.
        columns: those of the collection.
        folder: for temporary files.

    Raises:
        OSError, ValueError, StateError: it cannot be used.
    """
    found = Baseline()
    try:
        for each in against:
            if is_job(Path(each)):
                store = _open_compared(each, rules)
                found.stores.append(store)
                found.sites.append(sites_of_job(store))
        if not sources:
            return found
        inputs = folder / _AGAINST
        with SqliteStore(
            inputs / STORE_NAME, keep_bodies=False, group_units=10**6, group_seconds=3600
        ) as store:
            groups, sites = _fill(store, sources, rules, columns, inputs)
        found.stores.append(SqliteStore(inputs / STORE_NAME, read_only=True))
        return replace(found, sites=[*found.sites, sites.get], groups=groups)
    except BaseException:
        found.close()
        raise


def _open_compared(against: str, rules: Rules) -> SqliteStore:
    """Open the store of a job, whose rows were judged by the same rules.

    Raises:
        OSError, ValueError, StateError: it cannot be used.
    """
    if rules.within is not None:
        raise ValueError(
            f"--within needs files for --against, because a job does not keep `{rules.within}`,"
            f" got the job {against!r}"
        )
    store = SqliteStore(Path(against) / STORE_NAME, read_only=True)
    try:
        _check_compared(store, rules, against)
    except ValueError:
        store.close()
        raise
    return store


def _check_compared(store: SqliteStore, rules: Rules, against: str) -> None:
    """Check that the documents of a job were compared by the same columns.

    Raises:
        ValueError: they were not.
    """
    made = json.loads(store.meta("collection") or "{}").get("compare", [])
    has_keys = next(store.signatures(KEY_STAGE), None) is not None
    if (rules.compare or has_keys) and made != list(rules.compare):
        raise ValueError(
            f"--against needs a job with the same columns in --compare, got {against!r}, compared"
            f" by {', '.join(made) or 'others'}; `dedup export {against} -o FILE` writes its"
            " texts, for --against FILE"
        )


def sites_of_job(store: JobStore) -> Callable[[str], Site | None]:
    """What a crawl has learned of its hosts; a run over a collection keeps nothing of that.

    Raises:
        ValueError: what is kept is damaged; from the function.
    """

    @lru_cache(maxsize=_SITES_IN_MEMORY)
    def site(host: str) -> Site | None:
        data = store.learned.site(host)
        return None if data is None else SiteState.from_bytes(data).site

    return site


_AGAINST = "against"
_SITES_IN_MEMORY = 500
"""Some 150 kB each when they are full."""


def is_job(path: Path) -> bool:
    """Is it the folder of a job?"""
    return path.is_dir() and (path / STORE_NAME).exists()


def _fill(
    store: SqliteStore, sources: list[Source], rules: Rules, columns: Columns, folder: Path
) -> tuple[dict[str, range], dict[str, Site]]:
    rules, columns = rules_of_baseline(rules), columns_of_baseline(columns, rules)

    def rows() -> Any:
        for number, source in enumerate(sources):
            for row in read_rows(source, columns):
                yield number, row

    pages = (row for source in with_markup(sources, columns) for row in read_rows(source, columns))
    sites = learn_sites(pages, columns)
    workers = SigningProcesses(Work(columns=columns, rules=rules, sites=sites), 1)
    decider = Decider(rules, store, rare_on=rare_lines(sites.get))
    judge = RowJudge(
        rules,
        decider,
        workers,
        [FileAccount(source, columns) for source in sources],
        folder=folder,
        on_broken=lambda _, __: None,
    )
    for _ in judge.judge(rows):
        pass
    return decider.groups, sites


def rules_of_baseline(rules: Rules) -> Rules:
    """By what rules the rows of a baseline are judged before others are compared with them."""
    return Rules(
        threshold=rules.threshold,
        stages=rules.stages,
        within=rules.within,
        compare=rules.compare,
    )


def columns_of_baseline(columns: Columns, rules: Rules) -> Columns:
    """The columns that are read of it; of those that the user has named, it needs the groups'."""
    others = rules_of_baseline(rules).others
    return replace(columns, others=others, required=frozenset((*others, *rules.compare)))
