"""Published histories of sites, replayed: what of their changes is told, and what is not.

    python benchmarks/measurements/histories.py REPOSITORY --branch NAME --select CSS
        [--remove CSS] [--states 20] [--last 200] [--start PATH] [--allow REGEX] [--folder PATH]

REPOSITORY is the git directory of a built site. Its commits, at equal distances, are served one
after the other at one address: the first is crawled, the others are visited with `-a refresh=1`.
What is told of each visit is judged by the words of the content container (see
`benchmarks/sites/container.py`) in the commits themselves, over the pages that the job knows:

- changed: a page's words, or its title, differ between two states. A page that was told and is the
  same by both counts against precision; "rebuilt" are pages whose file differs, and neither does.
  What came and went alike on more than half of all pages is their template's, wherever it stands.
- new: a page that links lead to (see `benchmarks/sites/reached.py`) from the start or from a page
  of a state before, and in no state before did; those that are recorded as duplicates do not count.
- gone: a page without a file, or with one that only redirects, told one visit later, as `gone` or,
  with the other URL, as `moved` by then; what vanishes in the last state does not count.

A heading at the top of the container that repeats the title counts with the title, not with the
words: some themes print it, some leave it to the text. The date of a page's last update, or of its
generation, tells when it changed, and not what, and does not count.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import unescape
from pathlib import Path

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from benchmarks.sites.container import WORDS, Container, Content, decoded  # noqa: E402 -- in order
from benchmarks.sites.folder import SiteFolder  # noqa: E402 -- in order
from benchmarks.sites.reached import reached  # noqa: E402 -- in order
from benchmarks.sites.server import SiteServer  # noqa: E402 -- in order
from dedup.changes import Change, Changes  # noqa: E402 -- in order
from dedup.store import open_store  # noqa: E402 -- in order

_SETTINGS = ("DEDUP_PROGRESS=off", "LOG_LEVEL=ERROR", "RETRY_ENABLED=0")

_SITE_NAME = 3
"""Pages whose names change by the same words: the site's name is part of theirs."""

_TITLE = re.compile(r"(?is)<title[^>]*>(.*?)</title")
_PARTS = re.compile(r"\s[|\u2013\u2014·•:-]\s")
_UPDATED = re.compile(
    r" (?:last (?:updated|modified)|generated)(?: on)?(?: (?:[a-z]{3,9}|\d{1,4})){3}(?= )"
)
_REDIRECT = re.compile(rb"(?i)<meta[^>]+http-equiv=[\"']?refresh")
"""A page that is only a redirect: it is away, as one without a file is."""

State = dict[str, tuple[bytes, tuple[str, ...], str]]
"""The pages of a state by URL: their bodies, the words of their containers, and their names."""


def _git(repository: Path, *arguments: str) -> bytes:
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def commits(repository: Path, branch: str, states: int, last: int) -> list[str]:
    """Commits of the branch at equal distances, the oldest first, of the last ones."""
    found = _git(repository, "rev-list", "--first-parent", branch).decode().split()[:last]
    found.reverse()
    step = max(1, (len(found) - 1) // max(1, states - 1))
    return found[::-1][: step * states : step][::-1]


def check_out(repository: Path, commit: str, folder: Path) -> None:
    """Make the folder the site as it was published by a commit."""
    shutil.rmtree(folder, ignore_errors=True)
    data = _git(repository, "archive", commit, "--", "*.html")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")


def crawl(url: str, folder: Path, *more: str) -> None:
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={url}"]
    command += ["-a", f"job={folder.name}", "-s", f"DEDUP_JOBS_DIR={folder.parent}", *more]
    command += [f"-s{each}" for each in _SETTINGS]
    subprocess.run(command, check=True, cwd=_ROOT, stdout=subprocess.DEVNULL)


def read_state(job: Path, server: SiteServer, container: Container) -> tuple[State, set[str]]:
    """The present state of the pages that the job knows, and those of them that it stores."""
    with open_store(job, read_only=True) as store:
        stored = {url for url in store.exports.page_urls().values() if url is not None}
        urls = stored.union(store.refreshes.duplicates())
    bodies = {url: server.page(url) for url in sorted(urls)}
    bodies = {url: body for url, body in bodies.items() if not _REDIRECT.search(body)}
    found = {url: (body, container.read(body)) for url, body in bodies.items() if body}
    state = {url: (body, own_words(read, body), read.name) for url, (body, read) in found.items()}
    return state, stored


def own_words(content: Content, body: bytes) -> tuple[str, ...]:
    """The words of the container, without a date of the last update and a title at its top."""
    words = tuple(_UPDATED.sub("", f" {' '.join(content.words or ())} ").split())
    title, heading = _TITLE.search(decoded(body)), content.name.partition(" | ")[2]
    for part in _PARTS.split(unescape(title[1]).strip() if title else ""):
        repeated = tuple(WORDS.findall(part.lower()))
        is_heading = _without_numbers(repeated) == _without_numbers(heading.split())
        if is_heading and words[: len(repeated)] == repeated:
            return words[len(repeated) :]
    return words


def _without_numbers(words: Iterable[str]) -> list[str]:
    return [word for word in words if not any(map(str.isdigit, word))]


def _as_number(word: str) -> str:
    return "0" if word.isdecimal() else word


class Judge:
    """Counts what was told of visits, and what was not."""

    def __init__(self, first: State, linked: Mapping[str, bytes]) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: list[str] = []
        self._last = dict(first)
        """Of each page the state when it was last there."""
        self.linked = first.keys() | linked.keys()
        """Pages that links lead to, in this state or one before."""
        self._missing: set[str] = set()
        self._gone: set[str] = set()
        self._moved: set[str] = set()
        """Pages told as moved so far."""

    def add(
        self,
        now: State,
        stored: set[str],
        linked: Mapping[str, bytes],
        told: Mapping[str, Change],
    ) -> None:
        """Judge a visit.

        Args:
            stored: the pages that the job has now, without duplicates.
            linked: the pages that links lead to, with their bodies.
        """
        both = stored & self._last.keys() & now.keys()
        changed = {url for url in both if self._last[url][0] != now[url][0]}
        by_words = {url for url in changed if self._last[url][1] != now[url][1]}
        by_words -= self._alike(by_words, now, len(both))
        by_name = self._other_names(changed - by_words, now)
        told_changed = self._of(told, "changed")
        self._compare("changed", (by_words | by_name) - self._gone, told_changed)
        there = {url for url, body in linked.items() if not _REDIRECT.search(body)}
        new = there - self.linked - (now.keys() - stored)
        self._compare("new", new, self._of(told, "new"))
        self.linked |= there
        missing = stored - now.keys()
        gone = missing & self._missing
        self._moved |= self._of(told, "moved")
        away = self._of(told, "gone") | (self._moved & gone - self._gone)
        self._compare("gone", gone - self._gone, away)
        self._missing, self._gone = missing, gone
        self._last |= now
        rebuilt = changed - by_words - by_name
        self.counts["rebuilt"] += len(rebuilt)
        self.counts["rebuilt, told"] += len(rebuilt & told_changed)

    def _alike(self, urls: set[str], now: State, n_pages: int) -> set[str]:
        """The pages of which the same words, or numbers, came and went as of most pages."""
        found: defaultdict[tuple[frozenset[tuple[str, int]], ...], set[str]] = defaultdict(set)
        for url in urls:
            then, words = (Counter(map(_as_number, state[url][1])) for state in (self._last, now))
            found[frozenset((words - then).items()), frozenset((then - words).items())].add(url)
        return set().union(*(each for each in found.values() if 2 * len(each) > n_pages))

    def _other_names(self, urls: set[str], now: State) -> set[str]:
        """The pages with another name; not those of a site that changes its own part of names."""
        found: defaultdict[tuple[frozenset[str], frozenset[str]], set[str]] = defaultdict(set)
        for url in urls:
            titles = (state[url][2].partition(" | ")[0] for state in (self._last, now))
            before, after = (frozenset(title.split()) for title in titles)
            if before != after:
                found[after - before, before - after].add(url)
        return set().union(*(each for each in found.values() if len(each) < _SITE_NAME))

    @staticmethod
    def _of(told: Mapping[str, Change], kind: str) -> set[str]:
        return {url for url, change in told.items() if change.change == kind}

    def _compare(self, kind: str, true: set[str], told: set[str]) -> None:
        self.counts[f"{kind}, true"] += len(true)
        self.counts[f"{kind}, told"] += len(told)
        self.counts[f"{kind}, both"] += len(true & told)
        self.examples += [f"{kind} missed: {url}" for url in sorted(true - told)]
        self.examples += [f"{kind} wrong: {url}" for url in sorted(told - true)]

    def lines(self) -> Iterator[str]:
        for kind in ("changed", "new", "gone"):
            true, told, both = (self.counts[f"{kind}, {each}"] for each in ("true", "told", "both"))
            precision, recall = (f"{both / n:.3f}" if n else "–" for n in (told, true))
            yield f"{kind:8} true {true:5} told {told:5} precision {precision} recall {recall}"
        yield f"rebuilt without a change of words: {self.counts['rebuilt']}, told " + str(
            self.counts["rebuilt, told"]
        )


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="dedup-histories-") as name:
        yield Path(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--branch", default="HEAD")
    parser.add_argument("--select", required=True)
    parser.add_argument("--remove", default="")
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--last", type=int, default=200, help="of so many commits")
    parser.add_argument("--root", default="", help="the folder of the repository that is served")
    parser.add_argument("--start", default="")
    parser.add_argument("--hosts", default="", help="links to these lead into the site")
    parser.add_argument("--allow", default="", help="URLs to crawl, as `-a allow`")
    parser.add_argument("--folder", type=Path, help="to keep the job in")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    container = Container(options.select, options.remove)
    with _folder(options.folder) as folder:
        root, job = folder / "site", folder / "job"
        found = commits(options.repository, options.branch, options.states, options.last)
        check_out(options.repository, found[0], root)
        hosts = [each for each in options.hosts.split(",") if each]
        site = SiteFolder(root / options.root, hosts)
        with SiteServer(site) as server:
            url = server.url + options.start
            more = ("-a", f"allow={options.allow}") if options.allow else ()
            crawl(url, job, *more)
            linked = partial(reached, site, server.url, options.start, options.allow)
            judge = Judge(read_state(job, server, container)[0], linked())
            for commit in found[1:]:
                check_out(options.repository, commit, root)
                crawl(url, job, *more, "-a", "refresh=1")
                now, stored = read_state(job, server, container)
                with open_store(job, read_only=True) as store:
                    rows = list(Changes(store, None, folder).rows())
                print(commit[:10], Counter(row.change for row in rows), flush=True)
                told = {row.url: row for row in rows}
                judge.add(now, stored, linked(judge.linked), told)
                if options.show:
                    for each in judge.examples:
                        row = told.get(each.rpartition(" ")[2])
                        print(each, row and (row.share, [*row.came, "- -", *row.went]), flush=True)
                    judge.examples.clear()
    print("\n".join(judge.lines()))


if __name__ == "__main__":
    main()
