"""How fresh stored pages stay under a budget of visits, by the schedule that spends it.

    python benchmarks/measurements/freshness.py [REPOSITORY --branch NAME --select CSS]
        [--remove CSS] [--sitemaps PATH …] [--indexes PATH …] [--commits 240] [--every 4]
        [--pages 800]

REPOSITORY is the git directory of a built site, each commit the site as it was published. Without
it, pages are simulated: Poisson changes, rates of a heavy tail that differ by folder.

Time counts in commits. After every fourth commit (`--every`) each schedule visits a share of the
pages, and learns only what these visits find. A page is fresh while the words of its container (see
`benchmarks/sites/container.py`) are those of its last visit. A page that is new is read at the
next visit, whatever the schedule; it counts from then until it is gone. The figures: the share of
time that pages were fresh, the mean of all, of the worst twentieth, and of the worst page. Which
commits are visited is chance, and the figures depend on it by more than schedules differ: each is
the mean of replays that begin with the first commit, the second, and so on up to `--every`, with
the way from uniform (0) to the oracle (1), and the gain on uniform with its standard error.

- uniform: who waited longest comes first.
- nutch: the rule of Nutch's AdaptiveFetchSchedule, an interval that shrinks to .8 by each change
  that is found and grows to 1.4 without; the page that is most overdue by its interval comes first.
- dedup: the schedule of a refresh with a budget, whose order is made anew ten times in each.
- hints: the same, as the spiders `site` and `sitemap` have it: it reads the sitemaps of the
  repository (`--sitemaps`), or the search indexes that pages have (`--indexes`), at each visit, and
  believes them as far as they told the truth.
- informed: that of dedup, told from the beginning what daily visits of each page will have found.
- oracle: knows each page's rate of change over the whole history, and visits at the intervals that
  are best for these rates (Cho and Garcia-Molina, Effective page refresh policies, TODS 2003).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT))

from benchmarks.sites.container import Container  # noqa: E402 -- in order
from dedup.revisits import (  # noqa: E402 -- in order
    PageHistory,
    PageText,
    Schedule,
    SharedPassages,
    Trust,
    instant,
    odds_of,
    section_of,
    shingles_of,
    trust_in_sections,
)
from dedup.scrapy.reading.pagefind import ENTRY, is_pagefind  # noqa: E402 -- in order
from dedup.scrapy.reading.search_index import (  # noqa: E402 -- in order
    SearchIndexError,
    index_addresses,
    read_search_index,
    spellings,
)
from dedup.scrapy.reading.sitemap_file import SitemapError, read_sitemap  # noqa: E402 -- in order

_HOST = "example.com"

_DAY = 86_400.0
"""Between two commits."""

_PARTS, _LEAST_VISITS, _PART_FOR_FRAGMENTS = 10, 4, 2
"""As `dedup.scrapy.job.visit_order` has them."""

_UNREAD, _GONE = 2, 4
"""What a site is taken to say of a page whose fragment has not been read, or is another one."""

Texts = NDArray[np.uint64]
"""A row for each page, a column for each commit: a number for its text; 0: it is not there.

The lower half of the number is how many words the text has, and one.
"""

Shingles = dict[int, NDArray[np.uint64]]
"""Those of each text, by its number."""

Lastmods = NDArray[np.uint64]
"""A row for each page, a column for each commit: a number for its `lastmod`; 0: it has none.

Odd is the number of a fragment, which has to be read to know whose it is.
"""


class Replay:
    """What one schedule knows of the pages, and how fresh they were."""

    def __init__(
        self, urls: list[str], texts: Texts, shingles: Shingles, lastmods: Lastmods
    ) -> None:
        n = len(urls)
        self.urls = urls
        self.texts = texts
        self.shingles = shingles
        self.lastmods = lastmods
        self.said = np.zeros(n, dtype=np.uint64)
        """What the site says of each page now, as far as it was read."""
        self.told = np.zeros(n, dtype=np.uint64)
        """The `lastmod` of each page at its last visit, or when it was first listed."""
        self.fragments: dict[int, bool] = {}
        """Those of Pagefind that were listed; has each been read?"""
        self.trust = dict.fromkeys(urls, Trust())
        self.stored = np.zeros(n, dtype=np.uint64)
        self.first_at = np.zeros(n)
        self.visited_at = np.zeros(n)
        self.n_changed = np.zeros(n)
        self.changed_days = np.zeros(n)
        self.seen_days = np.zeros(n)
        self.interval = np.full(n, 10.0)
        self.began: list[float] = []
        """When the first crawl began, and each refresh, in seconds."""
        self.visits: list[tuple[str, int, bool, float]] = []
        self.clock = 0.0
        """In seconds, by one more for each part of a refresh."""
        self.kept: list[list[tuple[float, int]]] = [[] for _ in urls]
        """The texts that each page had, with the time."""
        self.n_fresh = np.zeros(n)
        self.n_counted = np.zeros(n)

    def visit(self, pages: NDArray[np.int64], now: int) -> list[tuple[str, bool]]:
        """Visit pages; return their URLs, with whether they have changed."""
        found = self.texts[pages, now]
        changed = found != self.stored[pages]
        waited = now - self.visited_at[pages]
        self.n_changed[pages] += changed
        self.changed_days[pages] += waited * changed
        self.seen_days[pages] += waited
        self.interval[pages] *= np.where(changed, 0.8, 1.4)
        self.stored[pages], self.visited_at[pages] = found, now
        self.judge(pages, changed, now)
        told = [(self.urls[page], bool(each)) for page, each in zip(pages, changed, strict=True)]
        self.keep(pages[changed], now)
        refresh = len(self.began) - 1
        self.visits += [(url, refresh, has_changed, self.clock) for url, has_changed in told]
        return told

    def keep(self, pages: NDArray[np.int64], now: int) -> None:
        """Keep the texts of pages that are new, or another than before."""
        self.clock = max(self.clock + 1, now * _DAY)
        for page in pages.tolist():
            self.kept[page].append((self.clock, int(self.stored[page])))

    def find(self, pages: NDArray[np.int64], now: int) -> None:
        """Read pages for the first time."""
        self.stored[pages] = self.texts[pages, now]
        self.first_at[pages] = self.visited_at[pages] = now
        self.keep(pages, now)

    def hear(self, now: int) -> dict[str, float]:
        """Take what the site says now, as `VisitOrder.hear` does; return the odds of changes."""
        says = self.said
        listed = np.flatnonzero((says != 0) & (self.told != 0) & (self.stored != 0))
        named = (says != self.told)[listed].tolist()
        self.told[self.told == 0] = says[self.told == 0]
        urls = (self.urls[page] for page in listed.tolist())
        return odds_of(
            dict(zip(urls, named, strict=True)), trust_in_sections(self.trust), section_of
        )

    def read(self, now: int, most: int) -> int:
        """Read what the site says; return how many fragments that took, `most` at most."""
        self.said = self.lastmods[:, now].copy()
        is_fragment = self.said % 2 == 1
        if not is_fragment.any():
            return 0
        listed = self.said[is_fragment].tolist()
        new = [each for each in listed if each not in self.fragments]
        is_made_anew = len(new) > len(listed) / 2 or not any(map(self.fragments.get, listed))
        n_changed = 1 + sum(each.named_changed for each in self.trust.values())
        n_same = sum(each.named_same for each in self.trust.values())
        limit = min(most, max(1, round(most * n_changed / (n_changed + n_same))))
        wanted = listed[: min(most, 1)] if is_made_anew else new[:limit]
        self.fragments |= dict.fromkeys(new if is_made_anew else [], False)
        self.fragments |= dict.fromkeys(wanted, True)
        is_read = np.array([self.fragments.get(each, False) for each in listed])
        self.said[is_fragment] *= is_read
        self.told[self.told == _GONE] = 0
        is_silent = (self.said == 0) & (self.texts[:, now] != 0)
        self.said[is_silent] = np.where(self.told[is_silent] % 2 == 1, _GONE, _UNREAD)
        if is_made_anew:
            self.told[is_fragment | is_silent] = 0
        return len(wanted)

    def judge(self, pages: NDArray[np.int64], changed: NDArray[np.bool_], now: int) -> None:
        """Count whether the site told the truth of pages that are visited."""
        says = self.said[pages]
        is_named = says != self.told[pages]
        for page in np.flatnonzero(says).tolist():
            url = self.urls[int(pages[page])]
            kind = 2 * (not changed[page]) + (not is_named[page])
            counts = (count + (kind == place) for place, count in enumerate(self.trust[url]))
            self.trust[url] = Trust(*counts)
        self.told[pages] = np.where(says != 0, says, self.told[pages])

    def schedule(self, pages: NDArray[np.int64], *, is_informed: bool) -> Schedule:
        columns = (self.n_changed, self.changed_days, self.seen_days)
        if is_informed:
            n_changes, days = changes(self.texts)
            columns = (n_changes, n_changes, days)
        all_columns = (*columns, self.visited_at, self.first_at)
        times = (1, *[_DAY] * 4)
        found = (column[pages] * unit for column, unit in zip(all_columns, times, strict=True))
        rows = zip(*(column.tolist() for column in found), strict=True)
        known = (
            PageHistory(self.urls[page], *row, size=int(self.stored[page]) % 2**32)
            for page, row in zip(pages.tolist(), rows, strict=True)
        )
        return Schedule(known, self.began, self.visits, SharedPassages(self.known_texts(pages)))

    def known_texts(self, pages: NDArray[np.int64]) -> Iterator[PageText]:
        for page in pages.tolist():
            ends = [since for since, _ in self.kept[page][1:]]
            for (since, number), until in zip(self.kept[page], [*ends, np.inf], strict=True):
                yield PageText(self.urls[page], since, until, self.shingles_of(number))

    def shingles_of(self, number: int) -> NDArray[np.uint64]:
        return self.shingles.get(number, np.empty(0, np.uint64))

    def count(self, now: int) -> None:
        counted = (self.stored != 0) & (self.texts[:, now] != 0)
        self.n_counted += counted
        self.n_fresh += counted & (self.stored == self.texts[:, now])

    def figures(self) -> tuple[float, float, float]:
        """The mean freshness of all pages, of the worst twentieth, and of the worst page."""
        counted = self.n_counted > 0
        shares = np.sort(self.n_fresh[counted] / self.n_counted[counted])
        return shares.mean(), shares[: max(1, len(shares) // 20)].mean(), shares[0]


Refresh = Callable[[Replay, NDArray[np.int64], int, int], None]
"""Visits so many of the pages that are known, now."""


def by_worth(worth: Callable[[Replay, NDArray[np.float64]], NDArray[np.float64]]) -> Refresh:
    """A refresh in one order: by what is known, and the days since the last visit."""

    def refresh(replay: Replay, known: NDArray[np.int64], n_visits: int, now: int) -> None:
        ties = np.random.default_rng(now).random(len(known))
        values = worth(replay, now - replay.visited_at)[known]
        replay.visit(known[np.lexsort((ties, -values))[:n_visits]], now)

    return refresh


def changes(texts: Texts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How often each page changes over the whole history, and in how many days."""
    there = (texts[:, 1:] != 0) & (texts[:, :-1] != 0)
    n_changes = ((texts[:, 1:] != texts[:, :-1]) & there).sum(axis=1)
    return n_changes.astype(np.float64), there.sum(axis=1).astype(np.float64)


def oracle(replay: Replay, since: NDArray[np.float64]) -> NDArray[np.float64]:
    """A visit's worth at the known rate; at the best intervals it is equal for all pages."""
    n_changes, days = changes(replay.texts)
    rate = np.maximum(n_changes / np.maximum(days, 1), 1e-9)
    worth: NDArray[np.float64] = -np.expm1(-rate * since) / rate - since * np.exp(-rate * since)
    return worth


def dedup(
    replay: Replay,
    known: NDArray[np.int64],
    n_visits: int,
    now: int,
    *,
    is_informed: bool = False,
    hears_site: bool = False,
) -> None:
    schedule = replay.schedule(known, is_informed=is_informed)
    if hears_site:
        n_visits -= replay.read(now, n_visits // _PART_FOR_FRAGMENTS)
        schedule.hear(replay.hear(now))
    places = {replay.urls[page]: page for page in known.tolist()}
    step = max(_LEAST_VISITS, n_visits // _PARTS)
    for start in range(0, n_visits, step):
        urls = schedule.order()[: min(step, n_visits - start)]
        for url, has_changed in replay.visit(np.array([places[url] for url in urls]), now):
            schedule.note(url, replay.clock, has_changed=has_changed)
            if has_changed:
                both = (replay.shingles_of(number) for _, number in replay.kept[places[url]][-2:])
                schedule.passages.replaced(url, replay.clock, *both)


REFRESHES: dict[str, Refresh] = {
    "uniform": by_worth(lambda _, since: since),
    "nutch": by_worth(lambda replay, since: since / replay.interval),
    "dedup": dedup,
    "hints": partial(dedup, hears_site=True),
    "informed": partial(dedup, is_informed=True),
    "oracle": by_worth(oracle),
}


def replay(found: Replay, refresh: Refresh, share: float, every: int) -> tuple[float, float, float]:
    texts = found.texts
    for now in range(texts.shape[1]):
        if now % every == 0:
            found.began.append(now * _DAY)
            there = texts[:, now] != 0
            new = np.flatnonzero(there & (found.stored == 0))
            known = np.flatnonzero(there & (found.stored != 0))
            if n_visits := round(share * len(known)):
                refresh(found, known, n_visits, now)
            found.find(new, now)
        found.count(now)
    return found.figures()


def simulated(n_pages: int, n_commits: int) -> tuple[list[str], Texts, Shingles, Lastmods]:
    """Pages of twenty folders; the rates within a folder are spread over some decades."""
    random = np.random.default_rng(0)
    folders = random.integers(0, 20, n_pages)
    typical = random.lognormal(-3.5, 1.2, 20)
    rates = typical[folders] * random.lognormal(0, 1.2, n_pages)
    changes = random.poisson(rates[:, None], (n_pages, n_commits))
    urls = [f"https://{_HOST}/{folder}/{page}" for page, folder in enumerate(folders)]
    texts = (1 + changes.cumsum(axis=1)).astype(np.uint64) << np.uint64(32)
    return urls, texts, {}, np.zeros_like(texts)


# --- A repository --------------------------------------------------------------------------------


def _git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, check=True, input=given, stdout=subprocess.PIPE).stdout


def blobs(repository: Path, branch: str, n_commits: int) -> dict[str, dict[str, str]]:
    """What each commit changes, the oldest first: the new blob of each page, or zeros."""
    log = _git(
        *(repository, "log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames"),
        *("--format=format:@%H", f"-n{n_commits}", "--reverse", branch, "--", "*.html"),
    )
    found: dict[str, dict[str, str]] = {}
    for line in log.decode("utf-8", "replace").splitlines():
        if line.startswith("@"):
            commit = found.setdefault(line[1:], {})
        elif line.startswith(":"):
            fields, path = line.split("\t", 1)
            commit[path] = fields.split()[3]
    return found


def read_blobs(
    repository: Path, wanted: set[str], container: Container
) -> tuple[dict[str, int], Shingles]:
    """A number for the words of each blob, never 0, and the shingles of each number."""
    names = sorted(wanted)
    found: dict[str, int] = {}
    shingles: Shingles = {}
    for start in range(0, len(names), 500):
        part = names[start : start + 500]
        data = _git(repository, "cat-file", "--batch", given="\n".join(part).encode())
        words = [container.read(body).words or () for body in _bodies(data)]
        texts = [" ".join(each) for each in words]
        for name, text, each, hashes in zip(part, texts, words, shingles_of(texts), strict=True):
            found[name] = xxh3_64_intdigest(text.encode()) >> 32 << 32 | len(each) + 1
            shingles[found[name]] = hashes
    return found, shingles


def _bodies(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        if data[at:end].endswith(b" missing"):
            at = end + 1
            continue
        size = int(data[at:end].split()[2])
        yield data[end + 1 : end + 1 + size]
        at = end + size + 2


def read_lastmods(
    repository: Path, commits: Iterable[str], sitemaps: Sequence[str], root: str
) -> list[dict[str, int]]:
    """A number for the `lastmod` of each page, by its path, at each commit."""
    found = []
    for commit in commits:
        asked = "".join(f"{commit}:{path}\n" for path in sitemaps)
        told: dict[str, str] = {}
        for body in _bodies(_git(repository, "cat-file", "--batch", given=asked.encode())):
            with suppress(SitemapError):
                told |= read_sitemap(body).lastmods
        numbers = {
            _path(url, root): xxh3_64_intdigest(instant(value).encode()) & ~1
            for url, value in told.items()
        }
        found.append(numbers)
    return found


def read_indexes(
    repository: Path, commits: Iterable[str], pages: Sequence[str], root: str
) -> list[dict[str, int]]:
    """A number for the text of each page in the search indexes of these pages, by its path."""
    found = []
    names: dict[str, dict[str, str]] = {}
    for commit in commits:

        def read(url: str, commit: str = commit) -> dict[str, str]:
            if url not in names or url.endswith(ENTRY):
                with suppress(SearchIndexError):
                    body = _file(repository, commit, root + urlsplit(url).path.lstrip("/"))
                    names[url] = read_search_index(body, url)
            return names.get(url, {})

        texts: dict[str, str] = {}
        fragments: dict[str, str] = {}
        for page in pages:
            html = _file(repository, commit, page).decode("utf-8", "replace")
            for address in index_addresses(html, f"https://{_HOST}/{page.removeprefix(root)}"):
                if is_pagefind(address.urls[0]):
                    fragments |= read_fragments(address.urls[0], read)
                    continue
                paths = (root + urlsplit(url).path.lstrip("/") for url in address.urls)
                body = b"\n".join(_file(repository, commit, path) for path in paths)
                with suppress(SearchIndexError):
                    texts |= read_search_index(body, address.base)
        found.append(
            {
                _path(spelt, root): int(text, 16) & ~1 | is_fragment
                for each, is_fragment in ((texts, False), (fragments, True))
                for url, text in each.items()
                for spelt in spellings(url)
            }
        )
    return found


def read_fragments(entry: str, read: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """A number for the fragment of each page, by its URL."""
    fragments = [part for meta in read(entry) for part in read(meta)]
    return {url: xxh3_64_hexdigest(part.encode()) for part in fragments for url in read(part)}


def _file(repository: Path, commit: str, path: str) -> bytes:
    data = _git(repository, "cat-file", "--batch", given=f"{commit}:{path}\n".encode())
    return next(_bodies(data), b"")


def _path(url: str, root: str) -> str:
    path = root + urlsplit(url).path.lstrip("/")
    return path + "index.html" if path.endswith("/") or not path else path


def history(options: argparse.Namespace) -> tuple[list[str], Texts, Shingles, Lastmods]:
    """A sample of the pages of a repository at each commit, from the first state in the log."""
    commits = blobs(options.repository, options.branch, options.commits)
    first = _git(options.repository, "log", "--first-parent", "--format=%H", options.branch)
    base = first.decode().split()[len(commits) : len(commits) + 1]
    state = _state(options.repository, base[0]) if base else {}
    paths = sorted(state.keys() | {path for commit in commits.values() for path in commit})
    paths = [path for path in paths if re.search(options.allow, f"/{path}")]
    paths = sorted(paths, key=lambda path: xxh3_64_intdigest(path.encode()))[: options.pages]
    sample = set(paths)
    wanted = {blob for path, blob in state.items() if path in sample}
    wanted |= {blob for each in commits.values() for path, blob in each.items() if path in sample}
    numbers, shingles = read_blobs(
        options.repository,
        {blob for blob in wanted if blob.strip("0")},
        Container(options.select, options.remove),
    )
    texts = np.zeros((len(paths), len(commits)), dtype=np.uint64)
    for column, commit in enumerate(commits.values()):
        state.update(commit)
        texts[:, column] = [numbers.get(state.get(path, ""), 0) for path in paths]
    given = options.indexes or options.sitemaps
    read = read_indexes if options.indexes else read_lastmods
    told = read(options.repository, commits, given, options.root)
    lastmods = np.array([[each.get(path, 0) for each in told] for path in paths], dtype=np.uint64)
    return [f"https://{_HOST}/{path}" for path in paths], texts, shingles, lastmods


def _state(repository: Path, commit: str) -> dict[str, str]:
    listed = _git(repository, "ls-tree", "-r", commit).decode("utf-8", "replace").splitlines()
    rows = (line.split("\t", 1) for line in listed if line.endswith(".html"))
    return {path: fields.split()[2] for fields, path in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path, nargs="?")
    parser.add_argument("--branch", default="HEAD")
    parser.add_argument("--select", default="main")
    parser.add_argument("--remove", default="")
    parser.add_argument("--sitemaps", nargs="+", default=[], help="paths in the repository")
    parser.add_argument("--indexes", nargs="+", default=[], help="pages with search indexes")
    parser.add_argument("--root", default="", help="folder of the site, with / at its end")
    parser.add_argument("--commits", type=int, default=240)
    parser.add_argument("--every", type=int, default=4, help="commits from visit to visit")
    parser.add_argument("--allow", default="", help="REGEX of paths, with / at their beginning")
    parser.add_argument("--pages", type=int, default=800, help="a sample of this size")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.05, 0.1, 0.25, 0.5])
    parser.add_argument("--texts", type=Path, help="keep what was read here, or take it from here")
    options = parser.parse_args()
    if options.texts is not None and options.texts.exists():
        kept = np.load(options.texts)
        urls, texts, lastmods = kept["urls"].tolist(), kept["texts"], kept["lastmods"]
        parts = np.split(kept["shingles"], np.cumsum(kept["n_shingles"])[:-1])
        shingles = dict(zip(kept["numbers"].tolist(), parts, strict=True))
    else:
        has_site = options.repository is not None
        found = history(options) if has_site else simulated(options.pages, options.commits)
        urls, texts, shingles, lastmods = found
        if options.texts is not None:
            np.savez_compressed(
                options.texts,
                urls=urls,
                texts=texts,
                lastmods=lastmods,
                numbers=np.fromiter(shingles, np.uint64, len(shingles)),
                n_shingles=[len(each) for each in shingles.values()],
                shingles=np.concatenate([np.empty(0, np.uint64), *shingles.values()]),
            )
    n_changes, _ = changes(texts)
    print(f"{len(urls)} pages, {texts.shape[1]} commits, {n_changes.sum():.0f} changes,", end=" ")
    print(f"{(n_changes > 0).sum()} pages change")
    print("budget  schedule  mean   worst 5%  worst page  way to the oracle  gain on uniform")
    for share in options.shares:
        figures = {
            name: np.array(
                [
                    replay(
                        Replay(urls, texts[:, start:], shingles, lastmods[:, start:]),
                        *(refresh, share, options.every),
                    )
                    for start in range(options.every)
                ]
            )
            for name, refresh in REFRESHES.items()
            if name != "hints" or lastmods.any()
        }
        uniform, best = (figures[name][:, 0] for name in ("uniform", "oracle"))
        for name, found in figures.items():
            mean, low, worst = found.mean(axis=0)
            way = (mean - uniform.mean()) / (best.mean() - uniform.mean())
            gain = found[:, 0] - uniform
            error = gain.std(ddof=1) / len(gain) ** 0.5 if len(gain) > 1 else np.nan
            line = f"{share:6.0%}  {name:8}  {mean:.4f} {low:.3f}     {worst:.3f}       {way:+.2f}"
            print(f"{line}               {gain.mean():+.4f} ± {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
