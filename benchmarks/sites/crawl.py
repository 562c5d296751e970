"""A crawl of a served site by the project's own spider, and what it recorded."""

import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from benchmarks.crawl.contenders import SETTINGS
from benchmarks.crawl.run import measure
from benchmarks.sites.catalogue import Site
from dedup.store import open_store
from dedup.urls.parts import host_of

_JOB, _URLS = "job", "urls.txt"
READ = "read.txt"
"""In the folder where a crawl runs: where an extension may note which URLs it reads, one a line."""

_OURS = {"DEDUP_JOBS_DIR": ".", "DEDUP_PROGRESS": "off"}


@dataclass(frozen=True, slots=True)
class Crawled:
    """What a crawl kept and dropped, as `dedup export` tells it, and its cost.

    Attributes:
        seconds: of the whole process.
        cpu_seconds: of the process and its children.
        rendered: URLs of pages that the browser was given, whatever came of it, and why.
        peak_bytes: most memory of the process and its children; what they share counts for each.
        read: URLs of pages in the order in which they were read, if an extension has noted it.
    """

    kept: Sequence[Mapping[str, Any]]
    dropped: Sequence[Mapping[str, Any]]
    seconds: float
    cpu_seconds: float
    rendered: Mapping[str, str] = field(default_factory=dict)
    peak_bytes: int = 0
    read: Sequence[str] = ()


def crawl(
    site: Site,
    url: str,
    *,
    settings: Sequence[str] = (),
    seed: int | None = None,
    most: int | None = None,
    paths: Sequence[str] = (),
) -> Crawled:
    """Crawl a site that is served at `url`, in a process and a temporary folder of its own.

    Args:
        site: its files are served already.
        url: where.
        settings: of Scrapy, as NAME=VALUE.
        seed: shuffles the site's list; without it, the list is in order.
        most: pages of the list.
        paths: the pages, one after the other, instead of the list.

    Raises:
        ValueError: the crawl failed, or kept nothing.
    """
    with TemporaryDirectory(prefix="dedup-site-") as name:
        folder = Path(name)
        urls = [url + path for path in paths] or (site.lists and listed(site, url, seed)[:most])
        cost = measure(_command(site, url, folder, settings, seed, urls), folder)
        errors = (folder / "errors.txt").read_text(errors="replace").strip()
        if cost["status"]:
            raise ValueError(f"the crawl of {site.name} failed: {errors or cost['status']}")
        with open_store(folder / _JOB, read_only=True) as store:
            kept, dropped = list(store.exports.pages()), list(store.exports.duplicates())
            of_page = store.learned.rendering.of_page
            rendered = {
                row["url"]: how.why
                for row in (*kept, *dropped)
                if (how := of_page(host_of(row["url"]), row["url"])) and how.seconds
            }
        noted = folder / READ
        read = noted.read_text("utf-8").splitlines() if noted.exists() else []
    if not kept:
        raise ValueError(
            f"the crawl of {site.name} kept no page: {errors or 'are its starts there?'}"
        )
    seconds = cost["ended"] - cost["began"]
    costs = cost["cpu_seconds"], rendered, cost["peak_bytes"]
    return Crawled(kept, dropped, seconds, *costs, list(dict.fromkeys(read)))


def listed(site: Site, url: str, seed: int | None) -> list[str]:
    """The URLs of the files that a site is crawled by, in order or shuffled by a seed."""
    files = {file for pattern in site.lists for file in site.folder.glob(pattern) if file.is_file()}
    if not files:
        raise ValueError(f"--list must name files of {site.folder}, got {', '.join(site.lists)}")
    paths = sorted(file.relative_to(site.folder).as_posix() for file in files)
    if seed is not None:
        random.Random(seed).shuffle(paths)  # noqa: S311 -- an order, not a secret
    return [url + quote(path) for path in paths]


def _command(
    site: Site,
    url: str,
    folder: Path,
    settings: Sequence[str],
    seed: int | None,
    urls: Sequence[str],
) -> list[str]:
    if urls:
        (folder / _URLS).write_text("\n".join(urls), encoding="utf-8")
        what = ["urls", "-a", f"file={_URLS}"]
    elif seed is None:
        what = ["site", "-a", f"url={','.join(url + start for start in site.starts)}"]
    else:
        raise ValueError("a seed shuffles a list: give --list, too")
    given = [*(f"{name}={value}" for name, value in {**SETTINGS, **_OURS}.items()), *settings]
    switches = [word for setting in given for word in ("-s", setting)]
    return [sys.executable, "-m", "scrapy", "crawl", *what, "-a", f"job={_JOB}", *switches]
