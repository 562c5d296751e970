"""`ADDONS = {"crawler.addon.DedupAddon": 500}` gives a Scrapy project all of the deduplication."""

from __future__ import annotations

import runpy
from pathlib import Path

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings

from crawler.clock import use_monotonic_timers
from crawler.dupefilter import DedupDupeFilter
from crawler.extensions.job_files import JobFiles
from crawler.extensions.progress import Progress
from crawler.extensions.prometheus import PrometheusFile
from crawler.extensions.stopping import Stopping
from crawler.extensions.waiting import WaitingPages
from crawler.fingerprinter import CanonicalFingerprinter
from crawler.middlewares.outputs import WatchOutputs
from crawler.middlewares.redirect import RedirectGuard
from crawler.middlewares.resume import ResumeMiddleware
from crawler.pipelines import ExactContent, ExtractText, NearDuplicate, StorePage
from crawler.scheduler import DedupScheduler


class DedupAddon:
    """Puts the components in their places. What the project has set itself stays as it is."""

    def update_settings(self, settings: BaseSettings) -> None:
        for name, value in _defaults().items():
            settings.setdefault(name, value, "default")
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


def _defaults() -> dict[str, object]:
    """The `DEDUP_*` of `settings/base.py`, read by path: another project may have a `settings`."""
    module = runpy.run_path(str(Path(__file__).parents[1] / "settings" / "base.py"))
    return {name: value for name, value in module.items() if name.startswith("DEDUP_")}
