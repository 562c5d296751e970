"""The `DEDUP_*` settings, read once and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar, cast

from scrapy.settings import BaseSettings

from dedup.config import NEAR_NAMES, DedupConfig, NearNames
from dedup.errors import StateError
from dedup.extras import load_extra
from dedup.html.main_text import EXTRACTORS
from dedup.store import SqliteStore
from dedup.store.database import lock
from dedup.text import UNSPACED_FEATURES, UnspacedFeatures
from dedup.urls import UrlRules

_Value = TypeVar("_Value")

STORE_NAME = "crawl.sqlite"
CANONICAL_LINKS = ("rules", "any", "off")
PROGRESS = ("auto", "live", "plain", "off")


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The settings as values. `default_settings.py` says what each of them means."""

    job: str
    jobs_dir: str
    job_dir: str
    is_store_bodies: bool
    group_pages: int
    group_seconds: float
    stop_seconds: float
    host_wait_seconds: float
    robots_wait_seconds: float
    url_capacity: int
    url_error_rate: float
    url_exact: bool
    url_canonical: str
    url_rules: UrlRules
    trap_pages: int
    extractor: str
    waiting_pages: int
    read_processes: int
    read_cpu_seconds: float
    read_memory_mb: int
    is_robots_meta_obeyed: bool
    progress: str
    prometheus_file: str
    prometheus_seconds: float
    detection: DedupConfig

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> CrawlConfig:
        """Read and check the settings.

        Raises:
            ValueError: one is out of range; the message names it.
        """
        return cls(
            job=str(settings.get("DEDUP_JOB") or ""),
            jobs_dir=str(settings.get("DEDUP_JOBS_DIR")),
            job_dir=str(settings.get("JOBDIR") or ""),
            is_store_bodies=settings.getbool("DEDUP_STORE_BODIES"),
            group_pages=_number(settings, "DEDUP_STORE_GROUP_PAGES", int, low=1),
            group_seconds=_number(settings, "DEDUP_STORE_GROUP_SECONDS", float, low=1e-3),
            stop_seconds=_number(settings, "DEDUP_STOP_SECONDS", float, low=0),
            host_wait_seconds=_number(settings, "DEDUP_HOST_WAIT_SECONDS", float, low=0),
            robots_wait_seconds=_number(settings, "DEDUP_ROBOTS_WAIT_SECONDS", float, low=0),
            url_capacity=_number(settings, "DEDUP_URL_CAPACITY", int, low=1),
            url_error_rate=_number(settings, "DEDUP_URL_ERROR_RATE", float, low=1e-12, high=0.5),
            url_exact=settings.getbool("DEDUP_URL_EXACT"),
            url_rules=_url_rules(settings),
            trap_pages=_number(settings, "DEDUP_TRAP_PAGES", int, low=0),
            url_canonical=_choice(settings, "DEDUP_URL_CANONICAL", CANONICAL_LINKS),
            extractor=_choice(settings, "DEDUP_TEXT_EXTRACTOR", EXTRACTORS),
            waiting_pages=_number(settings, "DEDUP_WAITING_PAGES", int, low=0),
            read_processes=_read_processes(settings),
            read_cpu_seconds=_number(settings, "DEDUP_READ_CPU_SECONDS", float, low=0.1, high=3600),
            read_memory_mb=_number(settings, "DEDUP_READ_MEMORY_MB", int, low=200),
            is_robots_meta_obeyed=settings.getbool("DEDUP_ROBOTS_META_OBEY"),
            progress=_choice(settings, "DEDUP_PROGRESS", PROGRESS),
            prometheus_file=_prometheus_file(settings),
            prometheus_seconds=_number(settings, "DEDUP_PROMETHEUS_SECONDS", float, low=0.1),
            detection=DedupConfig(
                near_resemblance=_number(
                    settings, "DEDUP_NEAR_RESEMBLANCE", float, low=1e-6, high=1
                ),
                near_names=cast("NearNames", _choice(settings, "DEDUP_NEAR_NAMES", NEAR_NAMES)),
                short_shingles=_number(settings, "DEDUP_SHORT_SHINGLES", int, low=1),
                sentences_count=_number(settings, "DEDUP_SENTENCES_COUNT", int, low=1),
                simhash_bits=int(_choice(settings, "DEDUP_SIMHASH_BITS", ("64", "128"))),
                simhash_unspaced_features=cast(
                    "UnspacedFeatures",
                    _choice(settings, "DEDUP_SIMHASH_CHINESE", UNSPACED_FEATURES),
                ),
                simhash_distance=_number(settings, "DEDUP_SIMHASH_DISTANCE", int, low=0, high=7),
            ),
        )

    def folder(self, spider: Any) -> Path:
        """The job's folder: `JOBDIR`, or a name given, or one made from the spider's arguments."""
        if self.job_dir:
            return Path(self.job_dir)
        given = str(getattr(spider, "job", "") or self.job)
        folder = Path(self.jobs_dir, file_name(given or getattr(spider, "job_name", spider.name)))
        if given or not getattr(spider, "always_new", False):
            return folder
        later = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
        return next(path for path in chain([folder], later) if not path.exists())

    def open_store(self, folder: Path) -> SqliteStore:
        """Open the job's store, or make a new one.

        Raises:
            StateError: it cannot be used, or was made with other URL rules.
        """
        store = SqliteStore(
            folder / STORE_NAME,
            keep_bodies=False,  # until StorePage says so
            group_units=self.group_pages,
            group_seconds=self.group_seconds,
        )
        try:
            store.check_schemes({"URL": {"rules": list(self.url_rules.names)}}, of="URLs")
        except StateError:
            store.close()
            raise
        return store


def flag(name: str, value: object) -> bool:
    """A spider argument that is on or off.

    Raises:
        ValueError: it is neither.
    """
    text = str(value).lower()
    if text not in {"", "0", "1", "false", "true"}:
        raise ValueError(f"{name} must be 1 or 0, got {value!r}")
    return text in {"1", "true"}


def move_aside(folder: Path) -> Path | None:
    """Rename a job's folder so that a new job can begin there; None: there is no job.

    Raises:
        StateError: a process works on the job.
    """
    if not (folder / STORE_NAME).exists():
        return None
    held = lock(folder / STORE_NAME)
    try:
        later = (folder.with_name(f"{folder.name}.old-{number}") for number in count(1))
        target = next(path for path in later if not path.exists())
        folder.rename(target)
    finally:
        held.close()
    return target


def file_name(name: str) -> str:
    """A name that is safe as a folder's, the same for the same name.

    >>> file_name("docs.example.org")
    'docs.example.org'
    >>> file_name("../../etc")
    'etc-74ccf3c5'
    """
    safe = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)[:80].strip(".-")
    if safe == name != "":
        return name
    # The command line makes lone surrogates of bytes that are not UTF-8.
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe or 'job'}-{digest}"


def _number(
    settings: BaseSettings,
    name: str,
    kind: Callable[[Any], _Value],
    *,
    low: float,
    high: float = float("inf"),
) -> _Value:
    value = settings.get(name)
    rule = f"{name} must be a number of at least {low:g}" + (
        "" if high == float("inf") else f" and at most {high:g}"
    )
    try:
        number = kind(value)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{rule}, got {value!r}") from None
    is_cut = isinstance(value, float) and number != value
    if is_cut or not low <= number <= high:  # type: ignore[operator]
        raise ValueError(f"{rule}, got {value!r}")
    return number


def _read_processes(settings: BaseSettings) -> int:
    if settings.get("DEDUP_READ_PROCESSES") == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return 0 if cores in (None, 1) else cores
    try:
        return _number(settings, "DEDUP_READ_PROCESSES", int, low=0)
    except ValueError as error:
        raise ValueError(str(error).replace("must be", 'must be "auto" or')) from None


def _url_rules(settings: BaseSettings) -> UrlRules:
    try:
        return UrlRules(settings.getlist("DEDUP_URL_RULES"))
    except ValueError as error:
        raise ValueError(f"DEDUP_URL_RULES: {error}") from None


def _prometheus_file(settings: BaseSettings) -> str:
    name = str(settings.get("DEDUP_PROMETHEUS_FILE") or "")
    if name and not name.endswith(".prom"):
        raise ValueError(f"DEDUP_PROMETHEUS_FILE must be the name of a .prom file, got {name!r}")
    if name:
        try:
            load_extra("prometheus_client", extra="prometheus", purpose="DEDUP_PROMETHEUS_FILE")
        except ModuleNotFoundError as error:
            raise ValueError(str(error)) from None
    return name


def _choice(settings: BaseSettings, name: str, choices: tuple[str, ...]) -> str:
    value = str(settings.get(name))
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value
