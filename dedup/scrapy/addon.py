"""`ADDONS = {"dedup.scrapy.DedupAddon": 500}` gives a Scrapy project all of the deduplication."""

from __future__ import annotations

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from dedup.scrapy import default_settings
from dedup.scrapy.clock import use_monotonic_timers
from dedup.scrapy.dupefilter import DedupDupeFilter
from dedup.scrapy.extensions.job_files import JobFiles
from dedup.scrapy.extensions.progress import Progress
from dedup.scrapy.extensions.prometheus import PrometheusFile
from dedup.scrapy.extensions.stopping import Stopping
from dedup.scrapy.extensions.waiting import WaitingPages
from dedup.scrapy.fingerprinter import CanonicalFingerprinter
from dedup.scrapy.middlewares.outputs import WatchOutputs
from dedup.scrapy.middlewares.redirect import RedirectGuard
from dedup.scrapy.middlewares.resume import ResumeMiddleware
from dedup.scrapy.pipelines import ExactContent, ExtractText, NearDuplicate, StorePage
from dedup.scrapy.scheduler import DedupScheduler


class DedupAddon:
    """Puts the components in their places. What the project has set itself stays as it is."""

    def update_settings(self, settings: BaseSettings) -> None:
        for name in filter(str.isupper, dir(default_settings)):
            settings.setdefault(name, getattr(default_settings, name), "default")
        if not settings.getbool("DEDUP_ENABLED"):
            raise NotConfigured
        use_monotonic_timers()
        for pipeline, order in (
            (ExtractText, 100),
            (ExactContent, 200),
            (NearDuplicate, 300),
            (StorePage, 900),
        ):
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", pipeline, order)
        for extension in (JobFiles, Progress, PrometheusFile, Stopping, WaitingPages):
            settings.setdefault_in_component_priority_dict("EXTENSIONS", extension, 0)
        if settings.getbool("DEDUP_URL_ENABLED"):
            self._filter_urls(settings)

    def _filter_urls(self, settings: BaseSettings) -> None:
        fallback = settings["REQUEST_FINGERPRINTER_CLASS"]
        settings.setdefault("DEDUP_URL_FALLBACK_FINGERPRINTER_CLASS", fallback, "addon")
        for name, component in (
            ("REQUEST_FINGERPRINTER_CLASS", CanonicalFingerprinter),
            ("DUPEFILTER_CLASS", DedupDupeFilter),
            ("SCHEDULER", DedupScheduler),
        ):
            settings.set(name, component, "addon")
        # Just inside RedirectMiddleware (600), which it advises.
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", RedirectGuard, 605)
        for middleware in (ResumeMiddleware, WatchOutputs):
            settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", middleware, 50)
