"""The `DEDUP_*` settings as values, read once for each crawler and checked."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, cast, get_args

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from dedup.config import NEAR_NAMES, DedupConfig, NearNames
from dedup.detectors import STAGES
from dedup.extras import load_extra, require_extra
from dedup.html.main_text import EXTRACTORS
from dedup.scrapy import default_settings
from dedup.scrapy.internals.commands import components
from dedup.scrapy.item_fields import ItemFields
from dedup.scrapy.removed_settings import REMOVED_SETTINGS
from dedup.scrapy.setting_values import SettingValues
from dedup.store.postgresql import is_address, without_password
from dedup.text import UNSPACED_FEATURES, UnspacedFeatures
from dedup.urls import UrlRules

logger = logging.getLogger(__name__)

_ATTRIBUTE = "dedup_config"
"""Of the crawler: the configuration ends with it."""

CANONICAL_LINKS = ("rules", "any", "off")

DuplicateLinksMode = Literal["follow", "defer", "skip"]
DUPLICATE_LINKS: tuple[str, ...] = get_args(DuplicateLinksMode)
PROGRESS = ("table", "auto", "live", "plain", "off")


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The settings as values. `default_settings.py` says what each of them means.

    Attributes:
        is_enabled: is the add-on in use, and switched on?
        is_url_enabled: are URLs filtered by it?
        store: address of the database that jobs are kept in; "": they are kept in their folders.
        worker_lease_seconds: time without a sign of life after which a process counts as dead.
        stages: those that are switched on.
        depth_limit: Scrapy's `DEPTH_LIMIT`; 0: none.
        detection: the settings of the detectors.
    """

    is_enabled: bool
    is_url_enabled: bool
    store: str
    worker_lease_seconds: float
    job: str
    jobs_dir: str
    job_dir: str
    keep_jobs: bool
    restart: bool
    is_report_enabled: bool
    report_file: str
    is_store_bodies: bool
    host_wait_seconds: float
    url_exact: bool
    url_canonical: str
    url_rules: UrlRules
    duplicate_links: DuplicateLinksMode
    is_private_allowed: bool
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
    stages: frozenset[str]
    depth_limit: int
    detection: DedupConfig

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlConfig:
        """The configuration of a crawler; the first call reads it, and warns of removed settings.

        Raises:
            ValueError: a setting is out of range; the message names it.
        """
        config: CrawlConfig | None = getattr(crawler, _ATTRIBUTE, None)
        if config is None:
            config = cls.from_settings(crawler.settings)
            for sentence in removed_settings(crawler.settings):
                logger.warning("%s", sentence)
            setattr(crawler, _ATTRIBUTE, config)
        return config

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> CrawlConfig:
        """Read and check the settings.

        Raises:
            ValueError: a setting is out of range; the message names it.
        """
        values = SettingValues(settings)
        number, whole = values.number, values.whole
        duplicate_links = values.choice("DEDUP_DUPLICATE_LINKS", DUPLICATE_LINKS)
        if values.text("DEDUP_STORE") and duplicate_links != "follow":
            raise ValueError(
                'DEDUP_DUPLICATE_LINKS must be "follow" where processes share a job (DEDUP_STORE),'
                f" got {duplicate_links!r}"
            )
        is_enabled = settings.getbool("DEDUP_ENABLED")  # it is absent without the add-on: off
        return cls(
            is_enabled=is_enabled,
            is_url_enabled=is_enabled and values.flag("DEDUP_URL_ENABLED"),
            store=_store(values),
            worker_lease_seconds=number("DEDUP_WORKER_LEASE_SECONDS", low=5),
            job=values.text("DEDUP_JOB"),
            jobs_dir=str(values.value("DEDUP_JOBS_DIR")),
            job_dir=values.text("JOBDIR"),
            keep_jobs=values.flag("DEDUP_KEEP_JOBS"),
            restart=values.flag("DEDUP_RESTART"),
            is_report_enabled=values.flag("DEDUP_REPORT_ENABLED"),
            report_file=values.file_name("DEDUP_REPORT_FILE", ".html", ".htm"),
            is_store_bodies=values.flag("DEDUP_STORE_BODIES"),
            host_wait_seconds=number("DEDUP_HOST_WAIT_SECONDS", low=0),
            url_exact=values.flag("DEDUP_URL_EXACT"),
            url_canonical=values.choice("DEDUP_URL_CANONICAL", CANONICAL_LINKS),
            url_rules=_url_rules(values),
            duplicate_links=cast("DuplicateLinksMode", duplicate_links),
            is_private_allowed=values.flag("DEDUP_ALLOW_PRIVATE"),
            trap_pages=whole("DEDUP_TRAP_PAGES", low=0),
            host_pages=whole("DEDUP_HOST_PAGES", low=0),
            extractor=_extractor(values),
            item_fields=ItemFields(
                text=values.field_names("DEDUP_ITEM_TEXT_FIELDS", min_names=1),
                url=str(values.value("DEDUP_ITEM_URL_FIELD")),
                key=values.field_names("DEDUP_ITEM_KEY_FIELDS", min_names=0),
                ignored=values.field_names("DEDUP_ITEM_IGNORE_FIELDS", min_names=0),
            ),
            waiting_pages=whole("DEDUP_WAITING_PAGES", low=0),
            read_processes=_read_processes(values),
            read_cpu_seconds=number("DEDUP_READ_CPU_SECONDS", low=0.1, high=3600),
            read_memory_mb=whole("DEDUP_READ_MEMORY_MB", low=200),
            is_robots_meta_obeyed=values.flag("DEDUP_ROBOTS_META_OBEY"),
            progress=values.choice("DEDUP_PROGRESS", PROGRESS),
            prometheus_file=_prometheus_file(values),
            stages=frozenset(
                stage for stage in STAGES if values.flag(f"DEDUP_{stage.upper()}_ENABLED")
            ),
            depth_limit=settings.getint("DEPTH_LIMIT"),
            detection=_detection(values),
        )

    @property
    def verdict_settings(self) -> dict[str, object]:
        """The settings that say what a job's verdicts mean, by name.

        The detectors' schemes have the settings of the detectors.
        """
        return {
            "DEDUP_NEAR_RESEMBLANCE": self.detection.near_resemblance,
            "DEDUP_NEAR_NAMES": self.detection.near_names,
            "DEDUP_SHORT_SHINGLES": self.detection.short_shingles,  # as in jobs of earlier releases
            "DEDUP_TEXT_EXTRACTOR": self.extractor,
            "DEDUP_ITEM_TEXT_FIELDS": list(self.item_fields.text),
            "DEDUP_ITEM_URL_FIELD": self.item_fields.url,
            "DEDUP_ITEM_KEY_FIELDS": list(self.item_fields.key),
            "DEDUP_ITEM_IGNORE_FIELDS": list(self.item_fields.ignored),
            "DEDUP_URL_CANONICAL": self.url_canonical,
            "DEDUP_ROBOTS_META_OBEY": self.is_robots_meta_obeyed,
        }


def is_queue_stored(settings: BaseSettings) -> bool:
    """Is the scheduler the one that queues requests in a job's store?"""
    found: bool = getattr(load_object(settings["SCHEDULER"]), "queues_in_job", False)
    return found


def stages_in_use(settings: BaseSettings, config: CrawlConfig) -> set[str]:
    """The stages that are switched on of all content pipelines in `ITEM_PIPELINES`."""
    pipelines = components(settings, "ITEM_PIPELINES")
    found = {stage for each in pipelines for stage in getattr(each, "dedup_stages", ())}
    return found & config.stages


def dedup_settings(settings: BaseSettings) -> Mapping[str, object]:
    """All settings `DEDUP_*` as they were set, by name; passwords are left out."""
    found = {name: settings[name] for name in sorted(settings) if name.startswith("DEDUP_")}
    if "DEDUP_STORE" in found:
        found["DEDUP_STORE"] = without_password(str(found["DEDUP_STORE"]))
    return found


def unknown_settings(settings: BaseSettings) -> list[str]:
    """A sentence for each setting `DEDUP_*` that does not exist, with a setting of similar name."""
    known = {name for name in dir(default_settings) if name.isupper()}
    sentences = []
    for name in dedup_settings(settings):
        if name not in known and name not in REMOVED_SETTINGS:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            meant = f"; {near[0]} may be meant" if near else ""
            sentences.append(f"there is no setting {name}{meant}")
    return sentences


def removed_settings(settings: BaseSettings) -> list[str]:
    """A sentence for each setting `DEDUP_*` that an earlier release had."""
    return [
        f"{name} has no effect any more: {REMOVED_SETTINGS[name]}"
        for name in dedup_settings(settings)
        if name in REMOVED_SETTINGS
    ]


def _detection(values: SettingValues) -> DedupConfig:
    number, whole, choice = values.number, values.whole, values.choice
    unspaced_features = choice("DEDUP_SIMHASH_CHINESE", UNSPACED_FEATURES)
    return DedupConfig(
        near_resemblance=number("DEDUP_NEAR_RESEMBLANCE", low=1e-6, high=1),
        near_names=cast("NearNames", choice("DEDUP_NEAR_NAMES", NEAR_NAMES)),
        simhash_unspaced_features=cast("UnspacedFeatures", unspaced_features),
        simhash_distance=whole("DEDUP_SIMHASH_DISTANCE", low=0, high=7),
    )


def _read_processes(values: SettingValues) -> int:
    name = "DEDUP_READ_PROCESSES"
    if values.value(name) == "auto":
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return 0 if cores in (None, 1) else cores
    try:
        return values.whole(name, low=0)
    except ValueError as error:
        raise ValueError(str(error).replace("must be", 'must be "auto" or')) from None


def _url_rules(values: SettingValues) -> UrlRules:
    name = "DEDUP_URL_RULES"
    try:
        return UrlRules(values.strings(name))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _store(values: SettingValues) -> str:
    address = values.text("DEDUP_STORE")
    if not address:
        return ""
    if not is_address(address) or "#" in address:
        shown = without_password(address)
        raise ValueError(
            f"DEDUP_STORE must be postgresql://USER@HOST:PORT/DATABASE, got {shown!r};"
            " the job is named by -a job=NAME or DEDUP_JOB"
        )
    try:
        require_extra("psycopg", extra="postgresql", purpose="DEDUP_STORE")
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    return address


def _extractor(values: SettingValues) -> str:
    extractor = values.choice("DEDUP_TEXT_EXTRACTOR", EXTRACTORS)
    if extractor == "trafilatura":
        try:
            load_extra(extractor, extra=extractor, purpose=f"DEDUP_TEXT_EXTRACTOR={extractor}")
        except ImportError as error:
            raise ValueError(str(error)) from None
    return extractor


def _prometheus_file(values: SettingValues) -> str:
    name = "DEDUP_PROMETHEUS_FILE"
    file = values.file_name(name, ".prom")
    if file:
        try:
            load_extra("prometheus_client", extra="prometheus", purpose=name)
        except ImportError as error:
            raise ValueError(str(error)) from None
    return file
