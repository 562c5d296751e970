"""The `DEDUP_*` settings, read once and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from dedup.config import NEAR_NAMES, DedupConfig, NearNames
from dedup.extras import load_extra, require_extra
from dedup.html.main_text import EXTRACTORS
from dedup.scrapy import default_settings
from dedup.scrapy.item_fields import ItemFields
from dedup.text import UNSPACED_FEATURES, UnspacedFeatures
from dedup.urls import UrlRules

_Value = TypeVar("_Value")

_INNER_SETTINGS = {"DEDUP_URL_FALLBACK_FINGERPRINTER_CLASS"}
"""Set by the add-on itself."""

CANONICAL_LINKS = ("rules", "any", "off")
PROGRESS = ("table", "auto", "live", "plain", "off")


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The settings as values. `default_settings.py` says what each of them means."""

    job: str
    jobs_dir: str
    job_dir: str
    keep_jobs: bool
    restart: bool
    report_file: str
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
    host_pages: int
    extractor: str
    item_fields: ItemFields
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
            keep_jobs=settings.getbool("DEDUP_KEEP_JOBS"),
            restart=settings.getbool("DEDUP_RESTART"),
            report_file=_report_file(settings),
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
            host_pages=_number(settings, "DEDUP_HOST_PAGES", int, low=0),
            url_canonical=_choice(settings, "DEDUP_URL_CANONICAL", CANONICAL_LINKS),
            extractor=_extractor(settings),
            item_fields=ItemFields(
                text=tuple(_names(settings, "DEDUP_ITEM_TEXT_FIELDS")),
                url=str(settings.get("DEDUP_ITEM_URL_FIELD")),
                key=tuple(_names(settings, "DEDUP_ITEM_KEY_FIELDS", least=0)),
            ),
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

    @property
    def verdict_settings(self) -> dict[str, object]:
        """The settings that say what a job's verdicts mean, by name.

        What they are made of in detail stands in the detectors' schemes.
        """
        return {
            "DEDUP_NEAR_RESEMBLANCE": self.detection.near_resemblance,
            "DEDUP_NEAR_NAMES": self.detection.near_names,
            "DEDUP_SHORT_SHINGLES": self.detection.short_shingles,
            "DEDUP_TEXT_EXTRACTOR": self.extractor,
            "DEDUP_ITEM_TEXT_FIELDS": list(self.item_fields.text),
            "DEDUP_URL_CANONICAL": self.url_canonical,
            "DEDUP_ROBOTS_META_OBEY": self.is_robots_meta_obeyed,
        }


def is_queue_stored(settings: BaseSettings) -> bool:
    """Is the scheduler the one that queues in a job's store?"""
    from dedup.scrapy.scheduler import DedupScheduler  # which needs a job

    # Not by issubclass: Scrapy's schedulers answer that by the names of their methods.
    return DedupScheduler in load_object(settings["SCHEDULER"]).__mro__


def unknown_settings(settings: BaseSettings) -> list[str]:
    """A sentence for each setting `DEDUP_*` that there is not, with the one that may be meant."""
    known = {name for name in dir(default_settings) if name.isupper()} | _INNER_SETTINGS
    sentences = []
    for name in sorted(str(name) for name in settings):
        if name.startswith("DEDUP_") and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            meant = f"; {near[0]} may be meant" if near else ""
            sentences.append(f"there is no setting {name}{meant}")
    return sentences


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


def _names(settings: BaseSettings, name: str, *, least: int = 1) -> list[str]:
    names = [str(each).strip() for each in settings.getlist(name)]
    if len(names) < least or not all(names):
        raise ValueError(f"{name} must be names of fields, got {settings.get(name)!r}")
    return names


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


def _report_file(settings: BaseSettings) -> str:
    name = str(settings.get("DEDUP_REPORT_FILE") or "")
    if name and not name.endswith((".html", ".htm")):
        raise ValueError(f"DEDUP_REPORT_FILE must be the name of a .html file, got {name!r}")
    return name


def _extractor(settings: BaseSettings) -> str:
    name = _choice(settings, "DEDUP_TEXT_EXTRACTOR", EXTRACTORS)
    if name == "trafilatura":
        try:
            require_extra(name, extra=name, purpose=f"DEDUP_TEXT_EXTRACTOR={name}")
        except ModuleNotFoundError as error:
            raise ValueError(str(error)) from None
    return name


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
