"""The `DEDUP_*` settings as values, read once for each crawler and checked."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Concatenate, Literal, ParamSpec, TypeVar, cast, get_args

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from dedup.config import NEAR_NAMES, DedupConfig, NearNames
from dedup.detectors import STAGES
from dedup.documents.formats import FORMATS
from dedup.extras import load_extra
from dedup.html.main_text import EXTRACTORS
from dedup.scrapy import default_settings
from dedup.scrapy.internals.commands import components
from dedup.scrapy.item_fields import ItemFields
from dedup.scrapy.processes.team import Team, own_team
from dedup.scrapy.removed_settings import REMOVED_SETTINGS
from dedup.scrapy.rendering.chromium import check_settings
from dedup.scrapy.setting_values import SettingValues
from dedup.scrapy.wording import wording
from dedup.store.postgresql import is_address, without_password
from dedup.text import UNSPACED_FEATURES, UnspacedFeatures
from dedup.urls import UrlRules

logger = logging.getLogger(__name__)

_ATTRIBUTE = "dedup_config"
"""Of the crawler: the configuration ends with it."""

CANONICAL_LINKS = ("rules", "any", "off")

DuplicateLinksMode = Literal["follow", "defer", "skip"]
DUPLICATE_LINKS: tuple[str, ...] = get_args(DuplicateLinksMode)
RENDER = ("off", "auto", "always")
PROGRESS = ("table", "auto", "live", "plain", "off")


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _read(
    read: Callable[Concatenate[SettingValues, _P], _T], *given: _P.args, **named: _P.kwargs
) -> _T:
    """A field of `CrawlConfig`, and how its value is read and checked."""
    metadata = {"read": lambda values: read(values, *given, **named)}
    return cast("_T", field(metadata=metadata))


def _is_enabled(values: SettingValues, *switches: str) -> bool:
    return values.settings.getbool("DEDUP_ENABLED") and all(map(values.flag, switches))


def _stages(values: SettingValues) -> frozenset[str]:
    return frozenset(stage for stage in STAGES if values.flag(f"DEDUP_{stage.upper()}_ENABLED"))


def _item_fields(values: SettingValues) -> ItemFields:
    return ItemFields(
        text=values.field_names("DEDUP_ITEM_TEXT_FIELDS", min_names=1),
        url=str(values.value("DEDUP_ITEM_URL_FIELD")),
        key=values.field_names("DEDUP_ITEM_KEY_FIELDS", min_names=0),
        ignored=values.field_names("DEDUP_ITEM_IGNORE_FIELDS", min_names=0),
    )


def _detection(values: SettingValues) -> DedupConfig:
    unspaced_features = values.choice("DEDUP_SIMHASH_CHINESE", UNSPACED_FEATURES)
    return DedupConfig(
        near_resemblance=values.number("DEDUP_NEAR_RESEMBLANCE", low=1e-6, high=1),
        near_names=cast("NearNames", values.choice("DEDUP_NEAR_NAMES", NEAR_NAMES)),
        simhash_unspaced_features=cast("UnspacedFeatures", unspaced_features),
        simhash_distance=values.whole("DEDUP_SIMHASH_DISTANCE", low=0, high=7),
        index_bytes=values.whole("DEDUP_INDEX_MEMORY_MB", low=64) * 2**20,
    )


def _duplicate_links(values: SettingValues) -> DuplicateLinksMode:
    mode = values.choice("DEDUP_DUPLICATE_LINKS", DUPLICATE_LINKS)
    if mode != "follow" and (values.text("DEDUP_STORE") or _processes(values) > 1):
        raise ValueError(
            'DEDUP_DUPLICATE_LINKS must be "follow" if processes share a job (DEDUP_STORE or'
            f" DEDUP_PROCESSES), got {mode!r}"
        )
    return cast("DuplicateLinksMode", mode)


def _cores() -> int:
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return found or 1


def _number_or_auto(values: SettingValues, name: str, *, low: int) -> int | None:
    """A whole number; None: "auto"."""
    if values.value(name) == "auto":
        return None
    try:
        return values.whole(name, low=low)
    except ValueError as error:
        raise ValueError(str(error).replace("must be", 'must be "auto" or')) from None


def _processes(values: SettingValues) -> int:
    found = _number_or_auto(values, "DEDUP_PROCESSES", low=1)
    n_processes = max(_cores() // 2, 1) if found is None else found
    if n_processes > 1 and values.text("DEDUP_STORE"):
        raise ValueError(
            f"DEDUP_PROCESSES must be 1 if the job is in a database (DEDUP_STORE), got {found};"
            " there the same command, run once more, is one more process"
        )
    return n_processes


def _read_processes(values: SettingValues) -> int:
    found = _number_or_auto(values, "DEDUP_READ_PROCESSES", low=0)
    if found is not None:
        return found
    n_cores = _cores() // _processes(values)
    return 0 if n_cores <= 1 else n_cores


def _url_rules(values: SettingValues) -> UrlRules:
    name = "DEDUP_URL_RULES"
    try:
        return UrlRules(values.strings(name))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _load(module: str, *, extra: str, purpose: str) -> None:
    try:
        load_extra(module, extra=extra, purpose=purpose)
    except ImportError as error:
        raise ValueError(str(error)) from None


def _store(values: SettingValues) -> str:
    address = values.text("DEDUP_STORE")
    if not address:
        return ""
    if not is_address(address) or "#" in address:
        shown = without_password(address)
        raise ValueError(
            f"DEDUP_STORE must be postgresql://USER@HOST:PORT/DATABASE, got {shown!r};"
            f" the job is named by {wording().name} or DEDUP_JOB"
        )
    _load("psycopg", extra="postgresql", purpose="DEDUP_STORE")
    return address


def _baseline(values: SettingValues) -> tuple[str, ...]:
    jobs = [str(each).strip() for each in values.strings("DEDUP_BASELINE")]
    if any(map(is_address, jobs)):
        _load("psycopg", extra="postgresql", purpose="a job in DEDUP_BASELINE")
    return tuple(filter(None, jobs))


def _extractor(values: SettingValues) -> str:
    extractor = values.choice("DEDUP_TEXT_EXTRACTOR", EXTRACTORS)
    if extractor == "trafilatura":
        _load(extractor, extra=extractor, purpose=f"DEDUP_TEXT_EXTRACTOR={extractor}")
    return extractor


def _page_fields(values: SettingValues) -> tuple[str, ...]:
    name = "DEDUP_PAGE_FIELDS"
    names = values.field_names(name, min_names=0)
    if not names:
        return ()
    from dedup.fields.registry import checked  # with Markdown and more, which few crawls need

    try:
        return checked(names, of=name)
    except ImportError as error:
        raise ValueError(str(error)) from None


def _documents(values: SettingValues) -> tuple[str, ...]:
    name = "DEDUP_DOCUMENTS"
    names = tuple(dict.fromkeys(each.strip().lower() for each in values.strings(name)))
    for each in names:
        if each not in FORMATS:
            raise ValueError(f"{name} must be of {', '.join(FORMATS)}; got {each!r}")
        if FORMATS[each].module:
            _load(FORMATS[each].module, extra=FORMATS[each].extra, purpose=f"{name}={each}")
    return names


def _render(values: SettingValues) -> str:
    mode = values.choice("DEDUP_RENDER", RENDER)
    if mode != "off":
        _load("scrapy_playwright.handler", extra="render", purpose=f"DEDUP_RENDER={mode}")
        check_settings(values.settings)
    return mode


def _prometheus_file(values: SettingValues) -> str:
    name = "DEDUP_PROMETHEUS_FILE"
    file = values.file_name(name, ".prom")
    if file:
        _load("prometheus_client", extra="prometheus", purpose=name)
    team = own_team()
    return f"{file.removesuffix('.prom')}-{team.number}.prom" if file and team else file


@dataclass(frozen=True, slots=True)
class CrawlConfig:
    """The settings as values; `default_settings.py` documents each of them.

    Attributes:
        is_enabled: is the add-on in use, and switched on?
        is_url_enabled: are URLs filtered by it?
        store: address of the database that jobs are kept in; "": they are kept in their folders.
        processes: that crawl the job together, on this machine.
        team: those of this process; None: it was not started by another.
        worker_lease_seconds: time without a sign of life after which a process counts as dead.
        stages: those that are switched on.
        depth_limit: Scrapy's `DEPTH_LIMIT`; 0: none.
        detection: the settings of the detectors.
    """

    is_enabled: bool = _read(_is_enabled)
    is_url_enabled: bool = _read(_is_enabled, "DEDUP_URL_ENABLED")
    duplicate_links: DuplicateLinksMode = _read(_duplicate_links)
    store: str = _read(_store)
    processes: int = _read(_processes)
    team: Team | None = _read(lambda _: own_team())
    worker_lease_seconds: float = _read(SettingValues.number, "DEDUP_WORKER_LEASE_SECONDS", low=5)
    job: str = _read(SettingValues.text, "DEDUP_JOB")
    jobs_dir: str = _read(SettingValues.text, "DEDUP_JOBS_DIR")
    job_dir: str = _read(SettingValues.text, "JOBDIR")
    baseline: tuple[str, ...] = _read(_baseline)
    keep_jobs: bool = _read(SettingValues.flag, "DEDUP_KEEP_JOBS")
    restart: bool = _read(SettingValues.flag, "DEDUP_RESTART")
    is_report_enabled: bool = _read(SettingValues.flag, "DEDUP_REPORT_ENABLED")
    report_file: str = _read(SettingValues.file_name, "DEDUP_REPORT_FILE", ".html", ".htm")
    page_fields: tuple[str, ...] = _read(_page_fields)
    is_store_bodies: bool = _read(SettingValues.flag, "DEDUP_STORE_BODIES")
    host_wait_seconds: float = _read(SettingValues.number, "DEDUP_HOST_WAIT_SECONDS", low=0)
    url_exact: bool = _read(SettingValues.flag, "DEDUP_URL_EXACT")
    url_canonical: str = _read(SettingValues.choice, "DEDUP_URL_CANONICAL", CANONICAL_LINKS)
    url_rules: UrlRules = _read(_url_rules)
    is_private_allowed: bool = _read(SettingValues.flag, "DEDUP_ALLOW_PRIVATE")
    trap_pages: int = _read(SettingValues.whole, "DEDUP_TRAP_PAGES", low=0)
    host_pages: int = _read(SettingValues.whole, "DEDUP_HOST_PAGES", low=0)
    history_days: float = _read(SettingValues.number, "DEDUP_HISTORY_DAYS", low=0)
    extractor: str = _read(_extractor)
    documents: tuple[str, ...] = _read(_documents)
    item_fields: ItemFields = _read(_item_fields)
    waiting_pages: int = _read(SettingValues.whole, "DEDUP_WAITING_PAGES", low=0)
    read_processes: int = _read(_read_processes)
    read_cpu_seconds: float = _read(
        SettingValues.number, "DEDUP_READ_CPU_SECONDS", low=0.1, high=3600
    )
    read_memory_mb: int = _read(SettingValues.whole, "DEDUP_READ_MEMORY_MB", low=200)
    render_seconds: float = _read(SettingValues.number, "DEDUP_RENDER_SECONDS", low=1, high=300)
    render_pages: int = _read(SettingValues.whole, "DEDUP_RENDER_PAGES", low=1, high=64)
    render_memory_mb: int = _read(SettingValues.whole, "DEDUP_RENDER_MEMORY_MB", low=256)
    render_scrolls: int = _read(SettingValues.whole, "DEDUP_RENDER_SCROLLS", low=0, high=1000)
    has_render_third_parties: bool = _read(SettingValues.flag, "DEDUP_RENDER_THIRD_PARTIES")
    is_robots_meta_obeyed: bool = _read(SettingValues.flag, "DEDUP_ROBOTS_META_OBEY")
    has_tdm_files: bool = _read(SettingValues.flag, "DEDUP_TDM_FILES")
    render: str = _read(_render)
    progress: str = _read(SettingValues.choice, "DEDUP_PROGRESS", PROGRESS)
    prometheus_file: str = _read(_prometheus_file)
    stages: frozenset[str] = _read(_stages)
    depth_limit: int = _read(lambda values: values.settings.getint("DEPTH_LIMIT"))
    detection: DedupConfig = _read(_detection)

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
            config.use_for(crawler)
        return config

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> CrawlConfig:
        """Read and check the settings.

        Raises:
            ValueError: a setting is out of range; the message names it.
        """
        values = SettingValues(settings)
        return cls(**{each.name: each.metadata["read"](values) for each in fields(cls)})

    def use_for(self, crawler: Crawler) -> None:
        """Make this the configuration of a crawler."""
        setattr(crawler, _ATTRIBUTE, self)

    @property
    def is_shared(self) -> bool:
        """Do other processes work on the job?"""
        return bool(self.store) or (self.team is not None and self.team.number > 0)

    @property
    def has_routes(self) -> bool:
        """Are routes pages of their own? See `dedup.urls.routes`; for own spiders alone."""
        return self.is_enabled and self.render != "off"

    @property
    def verdict_settings(self) -> dict[str, object]:
        """The settings on which a job's verdicts depend, by name.

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
            **({"DEDUP_BASELINE": self._shown_baseline} if self.baseline else {}),
        }

    @property
    def _shown_baseline(self) -> list[str]:
        return [without_password(job) for job in self.baseline]


def names_processes(settings: BaseSettings) -> bool:
    """Do settings name another number of processes than one?"""
    return str(settings.get("DEDUP_PROCESSES", 1)) != "1"


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
    if "DEDUP_BASELINE" in found:
        jobs = settings.getlist("DEDUP_BASELINE")
        found["DEDUP_BASELINE"] = ",".join(without_password(str(job).strip()) for job in jobs)
    return found


def unknown_settings(settings: BaseSettings) -> list[str]:
    """A sentence for each setting `DEDUP_*` that does not exist, with a setting of similar name."""
    known = {name for name in dir(default_settings) if name.isupper()}
    sentences = []
    for name in dedup_settings(settings):
        if name not in known and name not in REMOVED_SETTINGS:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            meant = f"; did you mean {near[0]}?" if near else ""
            sentences.append(f"unknown setting {name}{meant}")
    return sentences


def removed_settings(settings: BaseSettings) -> list[str]:
    """A sentence for each setting `DEDUP_*` that an earlier release had."""
    return [
        f"{name} no longer has any effect: {REMOVED_SETTINGS[name]}"
        for name in dedup_settings(settings)
        if name in REMOVED_SETTINGS
    ]
