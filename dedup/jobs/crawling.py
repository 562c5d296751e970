"""A crawl from a program: `dedup crawl` in a process of its own, so that it can be repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from dedup.errors import CrawlError
from dedup.jobs.job import Job, open_job
from dedup.store import job_exists

_DONE, _TO_LOOK_AT = 0, 1
_LINES_KEPT = 20


def crawl(
    *urls: str,
    job: str,
    folder: str | os.PathLike[str] = "crawls",
    max_pages: int = 0,
    refresh: bool = False,
    settings: Mapping[str, object] | None = None,
) -> Job:
    """Crawl sites, and return the job with one copy of each page. It takes as long as the crawl.

    A job that is there goes on where it stopped, or, with `refresh`, its pages are visited again.
    What the crawl prints goes to standard error.

    Args:
        urls: where to start.
        job: its name.
        folder: the job becomes a folder in it.
        max_pages: the crawl stops when it has this number; 0: no limit.
        refresh: visit the pages of a finished job again.
        settings: Scrapy's and those of docs/settings.md, by name.

    Raises:
        CrawlError: the crawl could not start, or has fetched nothing; with what it said.
    """
    command = [sys.executable, "-m", "dedup.cli", "crawl", *urls, "--job", job]
    command += ["--max-pages", str(max_pages)] if max_pages else []
    command += ["--refresh"] if refresh else []
    given = {"DEDUP_JOBS_DIR": os.fspath(folder), **(settings or {})}
    command += [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    status, said = _run(command)
    place = Path(folder, job)
    if status not in (_DONE, _TO_LOOK_AT) or not job_exists(place):
        raise CrawlError(status, said)
    return open_job(place)


def _run(command: list[str]) -> tuple[int, str]:
    """Run it, show what it prints, and return its exit status and the end of that."""
    last: deque[str] = deque(maxlen=_LINES_KEPT)
    with subprocess.Popen(  # noqa: S603 -- the arguments are the caller's own
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                sys.stderr.write(line)
                last.append(line)
        except BaseException:  # Ctrl-C above all: the crawl stops as it does on a terminal
            process.terminate()
            raise
    return process.returncode, "".join(last).strip()
