"""What learned URL rules save and lose, simulated: `url_rules.py [SEEDS] [URLS] [KIND…]`.

Each site has as many pages as URLs that one rule matches, of a kind in `KINDS`; of these a share q
shows a page of its own. The learner itself decides, in the order of a crawl: all links are known at
the start, in random order. `fetched` is the share of all URLs that was fetched (half of them show
all pages, where q is 0), `lost` the pages that were not found: mean, and the worst of all seeds.
Of `skip` it is said how many crawls lost more than the rules' bounds allow together: at most 5%
should.

Beside it: no learning, a rule that is trusted after three equal pairs, and katana's (`-fsu`, as in
its pathtrie.go): all children of a path's node beyond ten are one.
"""

from __future__ import annotations

import random
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from dedup.store.memory.url_knowledge import MemoryUrlKnowledge
from dedup.urls import url_key
from dedup.urls.learning import FetchedPage, UrlLearner
from dedup.urls.learning.bounds import max_lost

SHARES = (0.0, 0.001, 0.01, 0.05)
LOSS = 0.001
_SITE = "http://site.example"

KINDS: dict[str, Callable[[int, random.Random], str]] = {
    "parameter": lambda n, draw: f"{_SITE}/page/{n}?ref={draw.randrange(1000)}",
    "session": lambda n, draw: f"{_SITE}/page/{n}?PHPSESSID={draw.getrandbits(128):032x}",
    "tracking": lambda n, draw: f"{_SITE}/page/{n}?utm_source=s{draw.randrange(20)}",
    "print view": lambda n, draw: f"{_SITE}/page/{n}?print=1",
    "folder mirror": lambda n, draw: f"{_SITE}/copy/page/{n}",
    "www mirror": lambda n, draw: f"http://www.site.example/page/{n}",
}
"""The second URL of a page, by what the site is planted with."""


@dataclass
class Outcome:
    fetched: int
    """URLs, in all."""
    lost: int
    bound: int = 0
    """Pages that all rules together may lose, at 95% for each of them."""


@dataclass
class Site:
    """URLs, what each shows, and of those that the rule matches what it makes of them."""

    urls: list[str]
    content: dict[str, str]
    forms: dict[str, str]

    @classmethod
    def planted(
        cls,
        kind: str,
        n_urls: int,
        share: float,
        seed: int,
        breaks_after: int = 0,
        n_pages: int = 0,
    ) -> Site:
        """`n_urls` that the rule matches, of as many pages, or of `n_pages`."""
        draw = random.Random(f"{n_urls} {share} {seed}")
        content: dict[str, str] = {}
        forms: dict[str, str] = {}
        for number in range(n_urls):
            page = number % (n_pages or n_urls)
            base = f"{_SITE}/page/{page}"
            content[base] = base
            matching = KINDS[kind](page, draw)
            forms[matching] = base
            is_own = draw.random() < share or (breaks_after and number >= breaks_after)
            content[matching] = matching if is_own else base
        urls = list(content)
        if not breaks_after:
            draw.shuffle(urls)
        return cls(urls, content, forms)

    def lost(self, fetched: list[str]) -> int:
        return len(set(self.content.values())) - len({self.content[url] for url in fetched})

    def outcome(self, fetched: list[str]) -> Outcome:
        return Outcome(len(fetched), self.lost(fetched))


def learned(
    site: Site, mode: str, seed: int, *, max_pages: int = 0
) -> tuple[Outcome, UrlLearner, MemoryUrlKnowledge]:
    """A crawl with the learner: a queue, and one of what was put off."""
    known = {url_key(url) for url in site.urls}
    knowledge = MemoryUrlKnowledge()
    numbers: dict[str, int] = {}
    urls: dict[int, str] = {}
    learner = UrlLearner(
        knowledge,
        is_seen=known.__contains__,
        mode=mode,
        loss=LOSS,
        n_pages=lambda _: len(numbers),
        url_of=urls.get,
        seed=seed,
    )
    queue = deque((url, 0) for url in site.urls)
    late: deque[tuple[str, int]] = deque()
    skipped: list[tuple[str, int]] = []
    fetched: list[str] = []
    next_number = count(1)
    while queue or late:
        if max_pages and len(fetched) >= max_pages:
            break
        url, number = (queue or late).popleft()
        if number:
            turn, _ = learner.turn(url, number)
            if turn == "skip":
                skipped.append((url, number))
                continue
        elif (deferral := learner.deferral(url)) is not None:
            late.append((url, deferral.rule.number))
            continue
        fetched.append(url)
        content = site.content[url]
        is_own = content not in numbers
        if is_own:
            numbers[content] = next(next_number)
            urls[numbers[content]] = url
        page = FetchedPage(url, numbers[content], is_own, original_url=urls[numbers[content]])
        for rule in learner.note(page):
            back = [each for each, held in (*late, *skipped) if held == rule.number]
            late = deque(each for each in late if each[1] != rule.number)
            skipped = [each for each in skipped if each[1] != rule.number]
            queue.extend((each, 0) for each in back)
        learner.save()
    outcome = site.outcome(fetched)
    rules = [rule for rule in knowledge.all_rules() if rule.stage == "trusted" and rule.sample_rate]
    outcome.bound = sum(max_lost(rule.sample_rate) for rule in rules)
    return outcome, learner, knowledge


def naive(site: Site) -> Outcome:
    """Drop what matches after three pairs with equal content, and none against."""
    pairs, is_wrong = 0, False
    seen: dict[str, str] = {}
    fetched = []
    for url in site.urls:
        base = site.forms.get(url, url)
        if url in site.forms and pairs >= 3 and not is_wrong:
            continue
        fetched.append(url)
        if base in seen:
            pairs += seen[base] == site.content[url]
            is_wrong = is_wrong or seen[base] != site.content[url]
        seen[base] = site.content[url]
    return site.outcome(fetched)


def katana(site: Site) -> Outcome:
    """One of the children of a node of the path trie stands for all, once there are over ten."""
    children: dict[str, set[str]] = {}
    seen: set[str] = set()
    fetched = []
    for url in site.urls:
        path, _, query = url.partition("?")
        parent, _, last = path.rpartition("/")
        known = children.setdefault(parent, set())
        known.add(last)
        shape = f"{parent}/{last if len(known) <= 10 else '{param}'}?{bool(query)}"
        if shape not in seen:
            seen.add(shape)
            fetched.append(url)
    return site.outcome(fetched)


def shown(outcomes: list[Outcome], n_urls: int) -> str:
    share = sum(each.fetched for each in outcomes) / len(outcomes) / (2 * n_urls)
    lost = sum(each.lost for each in outcomes) / len(outcomes)
    return f"{share:7.1%} {lost:8.1f} ({max(each.lost for each in outcomes)})"


def main(n_seeds: int, n_urls: int, kinds: Sequence[str]) -> None:
    print(f"{n_urls:,} matching URLs, {n_seeds} seeds, loss {LOSS}: fetched, lost (worst)")
    for kind in kinds:
        compare(kind, n_seeds, n_urls)
    half(n_urls)
    breaks(2_000)
    cost(n_urls)


def compare(kind: str, n_seeds: int, n_urls: int) -> None:
    print(f"{kind:32}" + "".join(f"{f'q = {share:.1%}':>26}" for share in SHARES), flush=True)
    for name, crawl in (
        ("no learning", lambda site, _: site.outcome(site.urls)),
        ("defer", lambda site, seed: learned(site, "defer", seed)[0]),
        ("skip", lambda site, seed: learned(site, "skip", seed)[0]),
        ("trusted after 3 pairs", lambda site, _: naive(site)),
        ("katana -fsu", lambda site, _: katana(site)),
    ):
        cells = []
        n_over = n_skipping = 0
        for share in SHARES:
            sites = (Site.planted(kind, n_urls, share, seed) for seed in range(n_seeds))
            outcomes = [crawl(site, seed) for seed, site in enumerate(sites)]
            cells.append(shown(outcomes, n_urls))
            n_skipping += sum(each.bound > 0 for each in outcomes)
            n_over += sum(each.lost > each.bound > 0 for each in outcomes)
        print(f"  {name:30}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
        if n_skipping:
            print(f"    more than the bound is lost in {n_over} of {n_skipping} crawls that skip")


def half(n_urls: int) -> None:
    for n_pages in (n_urls, n_urls // 4):
        site = Site.planted("session", n_urls, 0.0, 0, n_pages=n_pages)
        for part in (2, 5):
            at_most = len(site.urls) // part
            without = len({site.content[url] for url in site.urls[:at_most]})
            outcome = learned(site, "defer", 0, max_pages=at_most)[0]
            found = n_pages - outcome.lost
            print(
                f"max_pages {at_most:,} of {len(site.urls):,} URLs of {n_pages:,} pages:"
                f" {without:,} pages, {found:,} with defer"
            )


def breaks(after: int) -> None:
    site = Site.planted("parameter", 2 * after, 0.0, 0, breaks_after=after)
    outcome, _, knowledge = learned(site, "skip", 0)
    (rule,) = (each for each in knowledge.all_rules() if each.name == "drop:ref")
    print(
        f"a rule that breaks after {after:,} of {2 * after:,} URLs: {outcome.lost} pages lost,"
        f" {rule.deferred:,} put off, then {rule.stage}"
    )


def cost(n_urls: int) -> None:
    site = Site.planted("parameter", n_urls, 0.0, 0)
    _, learner, knowledge = learned(site, "defer", 0)
    urls = [url for url in site.urls if "?" in url]
    start = time.process_time()
    for url in urls:
        learner.deferral(url)
    active = time.process_time() - start
    start = time.process_time()
    for url in urls:
        learner.deferral(url.replace("site", "other"))
    idle = time.process_time() - start
    numbers = {url: number for number, url in enumerate(site.urls)}
    start = time.process_time()
    for url, number in numbers.items():
        learner.note(FetchedPage(url, number, is_own=False))
    noted = time.process_time() - start
    size = sum(len(rule.to_json()) for rule in knowledge.all_rules())
    print(f"a URL's turn: {idle / len(urls) * 1e6:.2f} us on a host without rules,", end=" ")
    print(f"{active / len(urls) * 1e6:.1f} us with one;", end=" ")
    print(f"a page: {noted / len(numbers) * 1e6:.1f} us; {size:,} bytes of rules")


if __name__ == "__main__":
    seeds, size, *names = [*sys.argv[1:], *("20", "10000")[len(sys.argv) - 1 :]]
    main(int(seeds), int(size), names or list(KINDS))
