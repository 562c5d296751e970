"""The life of a rule: what teaches, what is put off, and what ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.store.memory.url_knowledge import MemoryUrlKnowledge
from dedup.urls import url_key
from dedup.urls.learning import NEAR, FetchedPage, HostRule, UrlLearner
from dedup.urls.learning.bounds import AUDIT_RATE, PROBE_RATE, max_lost
from dedup.urls.learning.rewrites import share_of

HOST = "a.example"
BASE = f"http://{HOST}"


@dataclass
class Site:
    """A learner with what it asks of a crawl."""

    mode: str = "skip"
    loss: float = 0.001
    knowledge: MemoryUrlKnowledge = field(default_factory=MemoryUrlKnowledge)
    numbers: dict[str, int] = field(default_factory=dict)
    n_pages: int = 10_000

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        self.known: set[bytes] = getattr(self, "known", set())
        self.learner = UrlLearner(
            self.knowledge,
            is_seen=lambda key: key in self.known,
            mode=self.mode,  # type: ignore[arg-type]
            loss=self.loss,
            n_pages=lambda _: self.n_pages,
            url_of=lambda number: BASE + list(self.numbers)[number - 1],
        )

    def fetch(
        self, path: str, shows: str = "", *, is_short: bool = False, canonical: str = ""
    ) -> list[HostRule]:
        """A page is fetched that shows what the page at another path does, or is its own."""
        self.known.add(url_key(BASE + path))
        is_own = not shows
        if is_own:
            self.numbers[path] = len(self.numbers) + 1
        original = shows or path
        return self.learner.note(
            FetchedPage(
                BASE + path,
                self.numbers[original],
                is_own,
                is_short=is_short,
                original_url=None if is_own else BASE + original,
                canonical=BASE + canonical if canonical else None,
            )
        )

    def pairs(self, n: int, name: str = "ref", start: int = 0) -> None:
        for number in range(start, start + n):
            self.fetch(f"/{number}")
            self.fetch(f"/{number}?{name}={number}", f"/{number}")

    def rule(self, name: str = "drop:ref") -> HostRule:
        self.learner.save()
        found = {rule.name: rule for rule in self.knowledge.rules(HOST)}
        return found.get(name) or HostRule(0, HOST, name)

    def path(self, is_wanted: Callable[[float], bool], start: int = 10_000) -> str:
        """A path whose URL with `ref` is drawn as is wanted; the page is known."""
        for number in range(start, start + 10_000):
            if is_wanted(drawn(f"/{number}", "?ref=1")) and f"/{number}" not in self.numbers:
                self.fetch(f"/{number}")
                return f"/{number}?ref=1"
        raise AssertionError("there is none")

    def trust(self) -> None:
        self.pairs(10)
        while self.rule().stage == "probation":
            path = self.path(lambda share: share < PROBE_RATE)
            self.fetch(path, path.partition("?")[0])
        assert self.rule().stage == "trusted"


def drawn(path: str, query: str) -> float:
    """What is drawn for a URL of which a rule makes `path`."""
    return share_of(f" {BASE}{path}", url_key(f"{BASE}{path}{query}"))


@pytest.fixture
def site() -> Site:
    return Site()


def put_off(site: Site, path: str) -> str | None:
    found = site.learner.deferral(BASE + path)
    return None if found is None else found.rule.name


# --- Evidence ------------------------------------------------------------------------------------


def test_ten_pairs_propose_a_rule(site: Site) -> None:
    site.pairs(9)
    assert site.rule().stage == "observed"
    site.pairs(1, start=9)
    rule = site.rule()
    assert (rule.stage, rule.pairs, rule.against) == ("probation", 10, 0)
    assert rule.examples[0] == (f"{BASE}/0?ref=0", f"{BASE}/0")


def test_the_order_of_a_pair_does_not_matter(site: Site) -> None:
    for number in range(10):
        site.fetch(f"/{number}?ref={number}")
        site.fetch(f"/{number}", f"/{number}?ref={number}")
    assert site.rule().stage == "probation"


def test_a_form_that_is_no_page_is_enough(site: Site) -> None:
    for number in range(10):
        site.fetch(f"/{number}?sid={number}1")
        site.fetch(f"/{number}?sid={number}2", f"/{number}?sid={number}1")
    assert site.rule("drop:sid").stage == "probation"


def test_one_original_is_not_evidence_for_a_site(site: Site) -> None:
    site.fetch("/x")
    for number in range(50):
        site.fetch(f"/x?ref={number}", "/x")
    assert site.rule().stage == "observed"


def test_one_value_needs_more_pairs(site: Site) -> None:
    for number in range(19):
        site.fetch(f"/{number}")
        site.fetch(f"/{number}?print=1", f"/{number}")
    assert site.rule("drop:print").stage == "observed"
    site.fetch("/19")
    site.fetch("/19?print=1", "/19")
    assert site.rule("drop:print").stage == "probation"


def test_a_page_of_its_own_ends_a_rule_for_ever(site: Site) -> None:
    site.fetch("/x")
    site.fetch("/x?ref=1")
    site.pairs(20)
    assert site.rule().stage == "unlearned"
    assert site.rule().failure == (f"{BASE}/x?ref=1", f"{BASE}/x")


def test_near_duplicates_teach_nothing(site: Site) -> None:
    for number in range(20):
        site.fetch(f"/{number}")
        site.learner.note(FetchedPage(f"{BASE}/{number}?ref=1", NEAR, is_own=False))
    assert site.rule().number == 0 or site.rule().pairs == 0


def test_short_pages_teach_nothing_until_a_rule_is_in_use(site: Site) -> None:
    site.fetch("/x")
    site.fetch("/x?ref=1", is_short=True)
    site.pairs(10)
    assert site.rule().stage == "probation"
    site.fetch("/y")
    assert [rule.name for rule in site.fetch("/y?ref=1", is_short=True)] == ["drop:ref"]


def test_a_duplicate_of_another_page_is_neither(site: Site) -> None:
    site.fetch("/x")
    site.fetch("/y")
    site.fetch("/x?ref=1", "/y")
    assert (site.rule().pairs, site.rule().against) == (0, 0)


def test_a_rule_that_has_ended_is_learned_under_a_prefix(site: Site) -> None:
    site.fetch("/shop/x")
    site.fetch("/shop/x?ref=1")
    for number in range(10):
        site.fetch(f"/news/{number}")
        site.fetch(f"/news/{number}?ref={number}", f"/news/{number}")
    assert site.rule().stage == "unlearned"
    assert site.rule("drop:ref@/news/").stage == "probation"
    site.fetch("/news/a")
    paths = (f"/news/a?ref={number}" for number in range(100))
    assert "drop:ref@/news/" in {put_off(site, path) for path in paths}
    assert put_off(site, "/shop/a?ref=7") is None
    for number in range(12):
        site.fetch(f"/shop/{number}")
        site.fetch(f"/shop/{number}?ref={number}", f"/shop/{number}")
    assert site.rule("drop:ref@/shop/").stage == "unlearned"  # where the failure was


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ("/{}/", "/{}", "slash"),
        ("/{}", "/{}/", "add-slash"),
        ("/{}/index.html", "/{}/", "index"),
        ("/{}?a={}&a=0", "/{}?a=0&a={}", "order"),
        ("/{};jsessionid=1", "/{}", "session"),
        ("/(S(lit3py55t21z5v55vlm25s{:02}))/{}", "/{1}", "session"),
        ("/print/{}", "/{}", "folder:/print/=/"),
        ("/{}?frame-{}", "/{}", "bare-query"),
    ],
)
def test_rules_of_every_kind_are_learned(site: Site, a: str, b: str, name: str) -> None:
    for number in range(1, 12):
        site.fetch(b.format(number, number))
        site.fetch(a.format(number, number), b.format(number, number))
    assert site.rule(name).stage == "probation"


@pytest.mark.parametrize("is_first", [True, False], ids=["the form", "the other"])
@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ("/{}/", "/{}", "slash"),
        ("/{}", "/{}/", "add-slash"),
        ("/{}/index.html", "/{}/", "index"),
        ("/print/{}", "/{}", "folder:/print/=/"),
        ("/{0}?ref={0}", "/{0}", "drop:ref"),
    ],
)
def test_a_failure_counts_whichever_page_was_fetched_first(
    a: str, b: str, name: str, *, is_first: bool, site: Site
) -> None:
    for number in range(1, 25):
        site.fetch(b.format(number))
        site.fetch(a.format(number), b.format(number))
    assert site.rule(name).stage == "probation"
    first, second = (b, a) if is_first else (a, b)
    site.fetch(first.format(99))
    assert name in {rule.name for rule in site.fetch(second.format(99))}
    assert site.rule(name).stage == "unlearned"


@pytest.mark.parametrize(
    ("a", "b", "name"), [("/{0}?ref={0}", "/{0}", "drop:ref"), ("/{}/", "/{}", "slash")]
)
def test_a_form_that_shows_another_page_ends_the_rule_of_a_page_of_its_own(
    a: str, b: str, name: str, site: Site
) -> None:
    site.fetch("/x")
    for number in range(1, 25):
        site.fetch(b.format(number))
        site.fetch(a.format(number), b.format(number))
    site.fetch(b.format(98))
    assert site.fetch(a.format(98), "/x") == []  # nothing would be lost
    site.fetch(a.format(99))
    assert [rule.name for rule in site.fetch(b.format(99), "/x")] == [name]


@pytest.mark.parametrize("mirror", ["www", "m"])
def test_a_mirror_ends_with_its_original_fetched_last(mirror: str, site: Site) -> None:
    base = f"http://{mirror}.{HOST}"
    for number in range(10):
        site.fetch(f"/{number}")
        original = f"{BASE}/{number}"
        site.learner.note(
            FetchedPage(f"{base}/{number}", number + 1, is_own=False, original_url=original)
        )
    name = f"host:{mirror}.{HOST}={HOST}"
    site.learner.note(FetchedPage(f"{base}/own", 11, is_own=True))
    site.numbers["/other"] = 11
    ended = site.fetch("/own")
    assert name in {rule.name for rule in ended}
    site.learner.save()
    stages = {rule.name: rule.stage for rule in site.knowledge.rules(f"{mirror}.{HOST}")}
    assert set(stages.values()) == {"unlearned"}
    assert len(stages) == (2 if mirror == "www" else 1)


def test_mirrors_without_end_are_not_all_looked_up(site: Site) -> None:
    for number in range(60):
        site.fetch(f"/{number}")
        for mirror in (f"{BASE}/copy{number}", f"http://m{number}.{HOST}"):
            original = f"{BASE}/{number}"
            site.learner.note(
                FetchedPage(f"{mirror}/{number}", number + 1, is_own=False, original_url=original)
            )
    site.learner.save()
    names = [rule.name for rule in site.knowledge.all_rules()]
    assert len([name for name in names if name.startswith("folder:")]) == 10
    assert len([name for name in names if name.startswith("host:")]) == 2 * 10


def test_one_page_in_place_of_all_is_three_probes(site: Site) -> None:
    site.pairs(10)
    site.fetch("/out-of-order")
    for number in range(100, 400):
        site.fetch(f"/{number}", "/out-of-order")
        site.fetch(f"/{number}?ref={number}", "/out-of-order")
    rule = site.rule()
    assert (rule.stage, rule.pairs, rule.probes) == ("probation", 310, 3)


def test_two_hosts_are_learned_to_be_one(site: Site) -> None:
    for number in range(10):
        site.fetch(f"/{number}")
        url = f"http://m.{HOST}/{number}"
        original = FetchedPage(
            url, site.numbers[f"/{number}"], is_own=False, original_url=f"{BASE}/{number}"
        )
        site.learner.note(original)
    site.learner.save()
    (rule,) = site.knowledge.rules(f"m.{HOST}")
    assert (rule.name, rule.stage) == (f"host:m.{HOST}={HOST}", "probation")


# --- What is put off -----------------------------------------------------------------------------


def test_urls_are_put_off_once_a_rule_is_proposed(site: Site) -> None:
    path = site.path(lambda share: share >= PROBE_RATE)
    assert put_off(site, path) is None
    site.pairs(10)
    assert put_off(site, path) == "drop:ref"
    assert put_off(site, site.path(lambda share: share < PROBE_RATE)) is None


def test_a_trusted_rule_has_fewer_audits_than_probes(site: Site) -> None:
    site.trust()
    assert put_off(site, site.path(lambda s: AUDIT_RATE <= s < PROBE_RATE)) == "drop:ref"
    assert put_off(site, site.path(lambda s: s < AUDIT_RATE)) is None


def test_a_form_that_is_not_known_is_fetched_and_then_known(site: Site) -> None:
    site.trust()
    first, second = (
        f"/new?ref={n}"
        for n in [n for n in range(100) if drawn("/new", f"?ref={n}") >= PROBE_RATE][:2]
    )
    assert put_off(site, first) is None
    assert put_off(site, second) == "drop:ref"  # though the first has not come yet
    assert site.learner.turn(BASE + second, site.rule().number)[0] == "fetch"  # nor ever does


def test_of_two_opposite_rules_one_is_used(site: Site) -> None:
    for number in range(10):
        site.fetch(f"/{number}")
        site.fetch(f"/{number}/", f"/{number}")
        site.fetch(f"/a{number}/")
        site.fetch(f"/a{number}", f"/a{number}/")
    assert {site.rule("slash").stage, site.rule("add-slash").stage} == {"probation"}
    site.known |= {url_key(f"{BASE}/x{n}{end}") for n in range(50) for end in ("", "/")}
    found = {put_off(site, f"/x{n}{end}") for n in range(50) for end in ("", "/")}
    assert len(found - {None}) == 1


def test_where_the_site_redirects_the_target_is_fetched_first(site: Site) -> None:
    for number in range(10):
        site.learner.note_redirect(f"{BASE}/{number}", f"https://{HOST}/{number}")
    found = [site.learner.deferral(f"{BASE}/new{n}") for n in range(20)]
    assert {each.instead for each in found if each} <= {f"https://{HOST}/new{n}" for n in range(20)}
    assert sum(each is not None for each in found) > 10


def named(site: Site, canonical: str) -> None:
    """Forty pages are fetched twice; those with a parameter name a canonical address."""
    for number in range(40):
        path, form = f"/{number}?ref={number}", f"/{number}"
        first, second = (path, form) if number % 2 else (form, path)
        for each, shows in ((first, ""), (second, first)):
            name = canonical.format(path=each, form=form) if each == path else ""
            site.fetch(each, shows, canonical=name)
    assert site.rule().is_active


def test_so_does_one_of_the_form_that_names_itself(site: Site) -> None:
    for number in range(40):
        site.fetch(f"/{number}?ref={number}", canonical=f"/{number}")
        site.fetch(f"/{number}", f"/{number}?ref={number}", canonical=f"/{number}")
    found = [site.learner.deferral(f"{BASE}/new{n}?ref=1") for n in range(20)]
    assert sum(each is not None and bool(each.instead) for each in found) > 10


def test_a_canonical_link_that_names_the_form_has_it_fetched_first(site: Site) -> None:
    named(site, "{form}")
    found = [site.learner.deferral(f"{BASE}/new{n}?ref=1") for n in range(20)]
    assert {each.instead for each in found if each} <= {f"{BASE}/new{n}" for n in range(20)}
    assert sum(each is not None for each in found) > 10


@pytest.mark.parametrize("canonical", ["", "{path}", "/"], ids=["none", "its own", "the start"])
def test_another_canonical_link_changes_nothing(site: Site, canonical: str) -> None:
    named(site, canonical)
    assert not any(site.learner.deferral(f"{BASE}/new{n}?ref=1") for n in range(20))


def test_a_canonical_address_that_shows_no_page_is_not_fetched_first(site: Site) -> None:
    for number in range(40):
        first, second = (f"/{number}?ref={value}" for value in (number, number + 1))
        site.fetch(first, canonical=f"/{number}")
        site.fetch(second, first, canonical=f"/{number}")
    assert site.rule().is_active
    assert not any(site.learner.deferral(f"{BASE}/new{n}?ref=1") for n in range(20))


def test_where_two_rules_are_named_what_both_make_is_fetched_first(site: Site) -> None:
    for name in ("drop:ref", "index"):
        site.knowledge.put_rules([HostRule(0, HOST, name, "trusted", pairs=20, named=20)])
    site.open()
    found = [site.learner.deferral(f"{BASE}/{n}/index.html?ref=1") for n in range(40)]
    expected = {f"{BASE}/{n}/" for n in range(40)}
    assert {each.instead for each in found if each} <= expected
    assert sum(each is not None for each in found) > 20


# --- Skipping ------------------------------------------------------------------------------------


def test_defer_never_skips() -> None:
    site = Site(mode="defer")
    site.trust()
    path = site.path(lambda share: share > 0.9)
    assert site.learner.turn(BASE + path, site.rule().number)[0] == "fetch"


def test_skip_fetches_the_share_that_the_bound_asks_for(site: Site) -> None:
    site.trust()
    number = site.rule().number
    high = site.path(lambda share: share > 0.9)
    assert site.learner.turn(BASE + high, number)[0] == "skip"
    rule = site.rule()
    assert max_lost(rule.sample_rate) == 10
    low = site.path(lambda share: AUDIT_RATE < share < rule.sample_rate)
    assert site.learner.turn(BASE + low, number)[0] == "fetch"


def test_a_rule_on_probation_never_skips(site: Site) -> None:
    site.pairs(10)
    path = site.path(lambda share: share > 0.9)
    assert site.learner.turn(BASE + path, site.rule().number)[0] == "fetch"


def test_a_url_that_one_rule_has_drawn_is_fetched_whatever_others_say(site: Site) -> None:
    site.trust()
    site.pairs(10, "tag")
    site.fetch("/both")
    site.known.add(url_key(f"{BASE}/both?ref=1"))
    drawn = []
    for n in range(400):
        url = f"{BASE}/both?ref=1&tag={n}"
        if share_of(f" {BASE}/both?tag={n}", url_key(url)) < AUDIT_RATE:
            drawn.append(site.learner.deferral(url))
    assert drawn
    assert not any(drawn)


def test_two_rules_that_say_the_same_cost_no_more_than_one(site: Site) -> None:
    name = "utm_source"
    site.pairs(10, name)
    for number in range(10, 1_000):
        path = f"/{number}?{name}={number}"
        site.fetch(f"/{number}")
        if put_off(site, path) is None:
            site.fetch(path, f"/{number}")
    rules = [site.rule("drop:utm_source"), site.rule("tracking")]
    assert [rule.stage for rule in rules] == ["trusted", "trusted"]
    first, second = sorted(rules, key=lambda rule: rule.number)
    assert (first.deferred > 700, second.deferred) == (True, 0)
    turns = Counter(
        site.learner.turn(f"{BASE}/{n}?{name}={n}", first.number)[0] for n in range(10, 1_000)
    )
    assert max_lost(first.sample_rate or site.rule(first.name).sample_rate) == 10
    assert 0.18 < turns["fetch"] / 990 < 0.3  # .238; a deviation is .014


def test_one_rule_takes_the_urls_that_two_match(site: Site) -> None:
    for name, deferred in (("index", 3), ("drop:ref", 7)):
        site.knowledge.put_rules([HostRule(0, HOST, name, "trusted", deferred=deferred)])
    site.open()
    for number in range(40):
        site.fetch(f"/{number}/index.html")
        site.known.add(url_key(f"{BASE}/{number}/?ref=1"))
    taken = {put_off(site, f"/{number}/index.html?ref=1") for number in range(40)}
    assert taken == {"drop:ref", None}


def test_of_two_hosts_with_and_without_www_one_is_put_off(site: Site) -> None:
    www = BASE.replace("//", "//www.")
    for number in range(40):
        site.fetch(f"/{number}")
        page = FetchedPage(f"{www}/{number}", number + 1, is_own=False)
        site.learner.note(page)
    for number in range(40, 80):
        site.numbers[f"/{number}"] = number + 1
        site.learner.note(FetchedPage(f"{www}/{number}", number + 1, is_own=True))
        site.learner.note(FetchedPage(f"{BASE}/{number}", number + 1, is_own=False))
    site.learner.save()
    stages = {rule.name: rule.stage for rule in site.knowledge.all_rules()}
    assert "observed" not in (stages["add-www"], stages["www"])
    site.known |= {url_key(f"{each}/x{n}") for each in (BASE, www) for n in range(50)}
    found = {f"{each}/x{n}" for each in (BASE, www) for n in range(50)}
    held = [url for url in found if site.learner.deferral(url) is not None]
    assert len({url.partition("/x")[0] for url in held}) == 1


@pytest.fixture
def of_two(site: Site) -> Site:
    """A site with two trusted rules, and a page that is known by neither alone."""
    names = ("drop:ref", "index")
    site.knowledge.put_rules([HostRule(0, HOST, name, "trusted") for name in names])
    site.fetch("/a/")
    return site


def paths_of_two(is_wanted: Callable[[float], bool], n: int = 4000) -> list[str]:
    """Paths that two rules match, by the greater of the two draws."""
    paths = [f"/a/index.html?ref={number}" for number in range(n)]
    shares = [
        max(share_of(f" {BASE}{form}", url_key(BASE + path)) for form in ("/a/index.html", other))
        for path, other in zip(
            paths, [each.replace("index.html", "") for each in paths], strict=True
        )
    ]
    return [path for path, share in zip(paths, shares, strict=True) if is_wanted(share)]


def test_two_rules_apply_to_one_url(of_two: Site) -> None:
    path = next(
        path
        for path in paths_of_two(lambda share: share > 0.9)
        if put_off(of_two, path) is not None
    )
    number = of_two.rule(put_off(of_two, path) or "").number
    turns = {of_two.learner.turn(BASE + each, number)[0] for each in paths_of_two(bool, 100)}
    assert turns == {"fetch", "skip"}
    of_two.fetch(path, "/a/")
    rules = [of_two.rule("drop:ref"), of_two.rule("index")]
    assert [(rule.stage, rule.pairs) for rule in rules] == [("trusted", 1)] * 2


def test_a_page_of_its_own_ends_both_rules_that_match_it(of_two: Site) -> None:
    ended = of_two.fetch("/a/index.html?ref=7")
    assert {rule.name for rule in ended} == {"drop:ref", "index"}
    assert {of_two.rule("drop:ref").stage, of_two.rule("index").stage} == {"unlearned"}


def test_two_rules_skip_nothing_together_unless_both_are_trusted(of_two: Site) -> None:
    rule = of_two.rule("index")
    rule.stage = "probation"
    of_two.knowledge.put_rules([rule])
    of_two.open()
    number = of_two.rule("drop:ref").number
    paths = paths_of_two(bool, 100)
    assert {of_two.learner.turn(BASE + path, number)[0] for path in paths} == {"fetch"}


def test_a_host_that_redirects_costs_little_more_than_one_fetch_a_page() -> None:
    site = Site(loss=0.01)
    https = BASE.replace("http:", "https:")
    n_fetched, late = 0, []
    for number in range(3_000):
        url = f"{BASE}/{number}"
        site.known.add(url_key(url))
        deferral = site.learner.deferral(url)
        if deferral is None:
            site.learner.note_redirect(url, f"{https}/{number}")
            n_fetched += 1
        else:
            assert deferral.instead == f"{https}/{number}"
            late.append((url, deferral.rule.number))
        n_fetched += 1
        site.learner.note(FetchedPage(f"{https}/{number}", number + 1, is_own=True))
    site.numbers = {f"/{number}": number + 1 for number in range(3_000)}
    turns = Counter(site.learner.turn(url, number)[0] for url, number in late)
    assert (n_fetched + turns["fetch"]) / 3_000 < 1.15


# --- Keeping -------------------------------------------------------------------------------------


def test_rules_outlive_the_learner(site: Site) -> None:
    site.trust()
    before = site.rule()
    site.open()
    assert site.rule() == before
    assert put_off(site, site.path(lambda share: share > 0.5)) == "drop:ref"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.booleans()), max_size=120))
@settings(max_examples=50, deadline=None)
def test_a_learner_that_is_opened_anew_learns_the_same(
    visits: list[tuple[int, int, bool]],
) -> None:
    one, other = Site(), Site()
    for number, value, is_own in visits:
        for site in (one, other):
            base, path = f"/{number}", f"/{number}?ref={value}"
            if base not in site.numbers:
                site.fetch(base)
            if path not in site.numbers:
                site.fetch(path, "" if is_own else base)
        other.learner.save()
        other.open()
    one.learner.save()
    assert one.knowledge.all_rules() == other.knowledge.all_rules()


def test_a_loss_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="loss must be above 0"):
        Site(loss=0)
