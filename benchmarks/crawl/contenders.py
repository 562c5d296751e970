"""The crawlers that are compared, each as a command line and the record that it leaves."""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("scrapy", "twisted", "crawlee", "impit")

CONCURRENCY = 16

SETTINGS = {
    "CONCURRENT_REQUESTS": CONCURRENCY,
    "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
"""Of all that run on Scrapy. Crawlee: the same concurrency, no delays, no robots.txt either."""

FETCH_ONLY = "Scrapy, fetch only"
PLAIN = "Scrapy, plain"
CRAWLEE = "crawlee, Parsel"
ALL_ON = "ours, all dedup on"
CONTENT_OFF = "ours, content dedup off"

URLS, FEED, JOB = "urls.txt", "pages.jsonl", "job"

_SCRIPTS = Path(__file__).parent / "scripts"
_OURS = {"DEDUP_JOBS_DIR": ".", "DEDUP_PROGRESS": "off", "DEDUP_ROBOTS_META_OBEY": False}
_DETECTORS_OFF = {
    f"DEDUP_{stage}_ENABLED": False for stage in ("BODY", "TEXT", "SENTENCES", "SIMHASH", "MINHASH")
}


@dataclass(frozen=True, slots=True)
class Contender:
    """A crawler.

    Attributes:
        module: what it needs; where that cannot be imported, the contender is left out.
        command: from the site's URL to what is run, in an empty folder.
        recorded: from that folder to the number of pages that the crawler says it took; None: it
            keeps no record.
    """

    name: str
    module: str
    command: Callable[[str], list[str]]
    recorded: Callable[[Path], int | None]

    @property
    def missing(self) -> str:
        """Why it cannot run; "" if it can."""
        return "" if find_spec(self.module) else f"the package {self.module} is not installed"


def environment() -> dict[str, str]:
    """Of every contender: this project's settings, whatever folder it is run in.

    Compiled modules may be written, as anywhere: else each start compiles all sources again.
    """
    inherited = {**os.environ, "SCRAPY_SETTINGS_MODULE": "settings.base"}
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return inherited


def _scrapy(verb: str, what: str, settings: Mapping[str, object], *options: str) -> list[str]:
    given = [f"{name}={value}" for name, value in {**SETTINGS, **settings}.items()]
    switches = [word for setting in given for word in ("-s", setting)]
    return [sys.executable, "-m", "scrapy", verb, what, *options, *switches]


def _script(name: str, *options: str) -> list[str]:
    # Without this project's settings, its add-on among them.
    without_project = ["env", "-u", "SCRAPY_SETTINGS_MODULE"]
    return [*without_project, *_scrapy("runspider", str(_SCRIPTS / name), {}, *options)]


def _fetch_only(url: str) -> list[str]:  # noqa: ARG001 -- the shape of all
    return _script("fetch_only.py", "-a", f"urls={URLS}")


def _plain(url: str) -> list[str]:
    return _script("plain_scrapy.py", "-a", f"url={url}", "-O", FEED)


def _crawlee(url: str) -> list[str]:
    return [sys.executable, str(_SCRIPTS / "crawlee_site.py"), url, str(CONCURRENCY), FEED]


def _ours(url: str, settings: Mapping[str, object]) -> list[str]:
    options = ("-a", f"url={url}", "-a", f"job={JOB}")
    return _scrapy("crawl", "site", {**_OURS, **settings}, *options)


def _no_record(folder: Path) -> None:  # noqa: ARG001 -- the shape of all
    return None


def _count_urls(folder: Path) -> int:
    """Scrapy's start requests pass the dupefilter, so a page may stand in a feed twice."""
    with (folder / FEED).open("rb") as feed:
        return len({json.loads(line)["url"] for line in feed})


def _count_pages(folder: Path) -> int:
    """HTML pages: kept, dropped, or left out for what they say of themselves."""
    stats = json.loads((folder / JOB / "stats.json").read_text(encoding="utf-8"))
    pages = stats["pages"]
    other: int = sum(
        count
        for reason, count in pages["skipped"].items()
        if reason == "not_html" or reason.startswith("http_")
    )
    fetched: int = pages["fetched"]
    return fetched - other


CONTENDERS = (
    # First: the pages that it finds are those that are fetched without parsing.
    Contender(PLAIN, "scrapy", _plain, _count_urls),
    Contender(FETCH_ONLY, "scrapy", _fetch_only, _no_record),
    Contender(CRAWLEE, "crawlee", _crawlee, _count_urls),
    Contender(ALL_ON, "crawler", lambda url: _ours(url, {}), _count_pages),
    Contender(CONTENT_OFF, "crawler", lambda url: _ours(url, _DETECTORS_OFF), _count_pages),
)
