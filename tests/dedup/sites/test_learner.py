"""Which pages wait for what is known of their site, and what becomes of them, in a store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dedup.sites.learner import (
    EARLY_PAGES,
    POOL_PAGES,
    LearningStep,
    SiteLearner,
)
from dedup.sites.outline import Outline
from dedup.sites.site import NAMES, SETTLED_NAMES, learn, name_key
from dedup.sites.state import SiteState
from dedup.store import Page, SqliteStore, open_store
from tests.dedup.sites.conftest import (
    FOOTER,
    blog_post,
    flat,
    parsed,
    prose,
    sphinx,
    title_of,
    url_of,
)

URL = "http://site.example"
HOST = "site.example"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "crawl.sqlite")
    yield store
    store.close()


def fetched(number: int, body: str, url: str = URL) -> tuple[Page, Outline]:
    page = Page(
        id="",
        text=f"all of page {number}",
        url=f"{url}/{number}",
        title=title_of(number),
        body=body.encode(),
        source="page",
        fetched_at=1e9 + number,
        size_bytes=len(body),
    )
    return page, parsed(body)


def number_of(page: Page) -> int:
    return int((page.url or "").rpartition("/")[2])


def numbers(progress: LearningStep) -> list[int]:
    return [number_of(ready.page) for ready in progress.ready]


def learner(store: SqliteStore, max_waiting: int = 1000) -> SiteLearner:
    return SiteLearner(store.learned, max_waiting=max_waiting)


class Crawl:
    """Takes pages through a learner as a crawl does, and judges each as soon as it is ready."""

    def __init__(self, store: SqliteStore, max_waiting: int = 1000) -> None:
        self.store, self._max_waiting = store, max_waiting
        self.judged: list[tuple[int, str]] = []
        self.texts: dict[int, str] = {}
        """What is stored of each page, by its number in the URL."""
        self._urls: dict[int, int] = {}
        self.learning = learner(store, max_waiting)

    def killed(self) -> None:
        """Go on with a new process after a commit."""
        self.store.commit()
        self.learning = learner(self.store, self._max_waiting)
        self._judge(self.learning.resume())

    def fetch(self, number: int, body: str) -> None:
        page, outline = fetched(number, body)
        self._judge(self.learning.release(page.url or ""))
        own = self.learning.site(HOST).read(outline, page.title, page.url or "")
        if own is None:
            self._judge(self.learning.arrive(page, outline))
            return
        self._judge(self.learning.add(page.url, own.contribution))
        self._store(page, own.text)

    def finish(self) -> None:
        while (progress := self.learning.finish()).ready:
            self._judge(progress)

    def _judge(self, progress: LearningStep) -> None:
        for number, own in progress.reread:
            self.texts[self._urls[number]] = own.text
        for ready in progress.ready:
            number = self._store(ready.page, ready.page.text)
            if ready.place is not None:
                self.learning.done(ready.place)
            if ready.outline is not None:
                early = self.learning.early(number, ready.page, ready.outline)
                assert not early.ready
                self._judge(early)

    def _store(self, page: Page, text: str) -> int:
        number = self.store.add(page, {})
        self._urls[number] = number_of(page)
        self.judged.append((number_of(page), text))
        self.texts[number_of(page)] = text
        return number


# --- Waiting -------------------------------------------------------------------------------------


def test_pages_wait_for_ten_names(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(NAMES - 1):
        assert numbers(learning.arrive(*fetched(number, sphinx(number)))) == []
        assert learning.n_waiting == learning.n_unjudged == number + 1
        assert not learning.site(HOST)
    progress = learning.arrive(*fetched(9, sphinx(9)))
    assert numbers(progress) == list(range(NAMES))
    assert (learning.n_waiting, learning.n_unjudged) == (0, NAMES)
    assert {(ready.page.source, ready.page.site_version) for ready in progress.ready} == {
        ("box", 1)
    }
    assert progress.ready[3].page.text == f"Page 3\n{prose(3)}\ncode 3\n  more"
    assert progress.ready[3].page.body == sphinx(3).encode()
    assert progress.ready[3].page.rest is not None
    assert learning.site(HOST)


def test_pages_of_one_name_count_once(store: SqliteStore) -> None:
    learning = learner(store)
    for version in range(40):
        page, outline = fetched(1, sphinx(1))
        assert not learning.arrive(page, outline).ready, version
    for number in range(2, NAMES):
        assert not learning.arrive(*fetched(number, sphinx(number))).ready
    assert len(learning.arrive(*fetched(10, sphinx(10))).ready) == 40 + NAMES - 1


def test_hosts_wait_apart(store: SqliteStore) -> None:
    learning = learner(store)
    hosts = [f"http://{name}.example" for name in "ab"]
    for number in range(2 * NAMES - 2):
        assert not learning.arrive(*fetched(number, sphinx(number), hosts[number % 2])).ready
    assert learning.names_waiting() == {"a.example", "b.example"}
    assert len(learning.arrive(*fetched(99, sphinx(99), hosts[1])).ready) == NAMES
    assert learning.names_waiting() == {"a.example"}
    assert learning.names_judged() == {"b.example"}


def test_of_a_host_a_bounded_number_waits(store: SqliteStore) -> None:
    """Here all pages are of one name."""
    learning = learner(store)
    found: list[int] = []
    for _ in range(POOL_PAGES + 5):
        page, outline = fetched(1, sphinx(1))
        found += [ready.place or 0 for ready in learning.arrive(page, outline).ready]
    assert found == [1, 2, 3, 4, 5]
    assert learning.n_waiting == POOL_PAGES


def test_the_host_that_waits_longest_is_let_go_first(store: SqliteStore) -> None:
    learning = learner(store, max_waiting=6)
    hosts = [f"http://{name}.example" for name in "abc"]
    for number in range(6):
        assert not learning.arrive(*fetched(number, sphinx(number), hosts[number % 3])).ready
    progress = learning.arrive(*fetched(6, sphinx(6), hosts[2]))
    assert numbers(progress) == [0, 3]
    assert all(ready.outline is not None for ready in progress.ready)
    assert {ready.page.source for ready in progress.ready} == {"page"}
    assert all(ready.page.rest is not None for ready in progress.ready)


def test_no_page_waits_where_none_may(store: SqliteStore) -> None:
    progress = learner(store, max_waiting=0).arrive(*fetched(1, sphinx(1)))
    assert numbers(progress) == [1]
    assert progress.ready[0].outline is not None
    assert progress.ready[0].place is None


def test_a_page_without_a_host_does_not_wait(store: SqliteStore) -> None:
    page, outline = fetched(1, sphinx(1), url="no url at all")
    learning = learner(store)
    assert len(learning.arrive(page, outline).ready) == 1
    assert not learning.early(1, page, outline).reread


@pytest.mark.parametrize(
    "body", ["<p>" + "word " * 300_000, "<p>word" * 6_000], ids=["line", "lines"]
)
def test_large_page_does_not_wait(store: SqliteStore, body: str) -> None:
    learning = learner(store)
    for number in range(2 * NAMES):
        page, outline = fetched(number, body)
        (ready,) = learning.arrive(page, outline).ready
        assert ready.place is None
        assert ready.outline is None  # nor is it read again
    assert learning.n_waiting == 0
    assert not learning.site(HOST)


def test_at_the_end_few_pages_are_enough_and_none_is_left(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(5):
        learning.arrive(*fetched(number, sphinx(number)))
    for number in range(5, 7):
        learning.arrive(*fetched(number, flat(number), "http://other.example"))
    first, second, third = learning.finish(), learning.finish(), learning.finish()
    assert (numbers(first), numbers(second), numbers(third)) == ([0, 1, 2, 3, 4], [5, 6], [])
    assert {ready.page.source for ready in first.ready} == {"box"}
    assert {ready.page.source for ready in second.ready} == {"page"}
    assert FOOTER not in first.ready[0].page.text


def test_what_is_lone_in_a_page_survives_waiting(store: SqliteStore) -> None:
    learning = learner(store)
    for number in range(9):
        learning.arrive(*fetched(number, sphinx(number)))
    content = f"<p>é 有 \u2028 \ud800 {prose(9)}</p>"
    page, _ = fetched(9, "")
    outline = parsed(sphinx(9, content=content.replace("\ud800", "LONE")))
    lines = [line._replace(text=line.text.replace("LONE", "\ud800")) for line in outline.lines]
    progress = learning.arrive(page, Outline(outline.boxes, lines))
    assert progress.ready[-1].page.text.startswith("Page 9\né 有 \ud800")


@pytest.mark.parametrize("max_waiting", [0, 1, 3, 6, 1_000])
def test_every_page_becomes_ready_once(store: SqliteStore, max_waiting: int) -> None:
    """Also where a site is learned from pages that could not wait and are stored."""
    crawl = Crawl(store, max_waiting)
    for number in range(30):
        crawl.fetch(number, sphinx(number))
    crawl.finish()
    assert crawl.learning.n_unjudged == 0
    assert sorted(number for number, _ in crawl.judged) == list(range(30))
    assert store.learned.count_waiting() == {}
    assert {FOOTER in text for text in crawl.texts.values()} == {False}
    assert all(prose(number) in text for number, text in crawl.texts.items())


def test_pages_that_wait_for_an_early_page_are_released_before_the_next(
    store: SqliteStore,
) -> None:
    learning = learner(store)
    for number in range(NAMES - 1):
        learning.arrive(*fetched(number, sphinx(number)))
    for number in range(50, 50 + NAMES):  # of a refresh, or let go before
        page, outline = fetched(number, sphinx(number))
        progress = learning.early(store.add(page, {}), page, outline)
        assert not progress.ready
    assert [number for number, _ in progress.reread] == list(range(1, NAMES + 1))
    assert numbers(learning.release("http://other.example/")) == []
    assert numbers(learning.release(f"{URL}/99")) == list(range(NAMES - 1))
    assert numbers(learning.release(f"{URL}/99")) == []


# --- Early pages ---------------------------------------------------------------------------------


def test_early_pages_are_read_again_until_site_is_settled(
    store: SqliteStore,
) -> None:
    learning = learner(store, max_waiting=0)
    for number in range(1, NAMES + 1):
        (ready,) = learning.arrive(*fetched(number, sphinx(number))).ready
        assert ready.outline is not None
        progress = learning.early(store.add(ready.page, {}), ready.page, ready.outline)
        assert bool(progress.reread) == (number == NAMES)
    assert progress.reread[3][1].text == f"Page 4\n{prose(4)}\ncode 4\n  more"
    assert store.learned.count_early(HOST) == NAMES
    again = []
    for number in range(NAMES + 1, 4 * SETTLED_NAMES):
        site = learning.site(HOST)
        own = site.read(parsed(sphinx(number)), title_of(number), url_of(number))
        assert own is not None
        step = learning.add(url_of(number), own.contribution)
        again += [
            (learning.site(HOST).n_names, place, each.site_version) for place, each in step.reread
        ]
    assert [place for _, place, _ in again] == [*range(1, NAMES + 1)] * 4
    assert list(dict.fromkeys(version for _, _, version in again)) == [2, 3, 4, 5]
    assert again[-1][0] >= SETTLED_NAMES
    assert store.learned.count_early(HOST) == 0


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_early_pages_are_read_again_from_their_last_version(
    store: SqliteStore, *, is_in_memory: bool
) -> None:
    learning = learner(store, max_waiting=0)
    for number in range(1, NAMES + 2):
        if number == NAMES:
            if is_in_memory:
                learning._pool(HOST)
            page, outline = fetched(1, sphinx(100))
            learning.replaced(1, page, outline)
            learning.replaced(2, page, None)
            learning = learning if is_in_memory else learner(store, max_waiting=0)
        (ready,) = learning.arrive(*fetched(number, sphinx(number))).ready
        assert ready.outline is not None
        progress = learning.early(store.add(ready.page, {}), ready.page, ready.outline)
    texts = {number: own.text for number, own in progress.reread}
    assert texts.keys() == {1, *range(3, NAMES + 2)}
    assert prose(100) in texts[1]
    assert prose(3) in texts[3]


def test_early_pages_are_bounded(store: SqliteStore) -> None:
    learning = learner(store, max_waiting=0)
    for _ in range(EARLY_PAGES + 9):
        page, outline = fetched(1, sphinx(1))
        learning.early(store.add(page, {}), page, outline)
    assert store.learned.count_early(HOST) == EARLY_PAGES
    kept = [each.key for each in store.learned.early(HOST)]
    assert kept == list(range(10, EARLY_PAGES + 10))


def test_large_early_page_is_not_kept(store: SqliteStore) -> None:
    page, outline = fetched(1, "<p>word" * 6_000)
    learner(store).early(store.add(page, {}), page, outline)
    assert store.learned.count_early(HOST) == 0


def test_pages_in_memory_are_bounded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedup.sites.learner._LINES_IN_MEMORY", 400)
    learning = learner(store, max_waiting=8)
    n_lines = len(parsed(sphinx(1)).lines)
    found = []
    for number in range(60):
        step = learning.arrive(*fetched(number, sphinx(number), f"http://h{number % 20}.example"))
        for ready in step.ready:
            found.append(number_of(ready.page))
            learning.done(ready.place or 0)
            assert ready.outline is not None
            learning.early(store.add(ready.page, {}), ready.page, ready.outline)
        assert learning._n_lines <= 400
        in_memory = [page for pool in learning._pools.values() for page in pool.early.values()]
        assert n_lines * len(in_memory) <= 400
    learning.give_up({f"h{number}.example" for number in range(20)})
    assert learning._n_lines == 0
    assert sorted(found) == list(range(52))


def test_the_name_of_a_page_is_computed_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of one name are looked through at each arrival, as nothing is learned from them."""
    n_asked = 0

    def counted(page: Outline, title: str, url: str) -> int:
        nonlocal n_asked
        n_asked += 1
        return name_key(page, title, url)

    monkeypatch.setattr("dedup.store.records.name_key", counted)
    learning = learner(store)
    page, outline = fetched(1, sphinx(1))
    for _ in range(POOL_PAGES):
        assert not learning.arrive(page, outline).ready
    assert n_asked == POOL_PAGES


# --- Versions ------------------------------------------------------------------------------------


def contributed(learning: SiteLearner, numbers: range) -> list[int]:
    """Add pages; return the version that each was read by."""
    found = []
    for number in numbers:
        site = learning.site(HOST)
        own = site.read(parsed(sphinx(number)), title_of(number), url_of(number))
        assert own is not None
        assert own.site_version == site.version
        learning.add(url_of(number), own.contribution)
        found.append(own.site_version)
    return found


def begun(store: SqliteStore) -> SiteLearner:
    learning = learner(store)
    for number in range(NAMES):
        learning.arrive(*fetched(number, sphinx(number)))
    return learning


def test_a_version_is_in_use_sixteen_names_after_there_were_twice_as_many(
    store: SqliteStore,
) -> None:
    found = contributed(begun(store), range(NAMES, 200))
    changes = [NAMES + place for place in range(1, len(found)) if found[place] > found[place - 1]]
    # 2 · 10 names are reached with page 19; with 16 more the version of these 20 is in use. By
    # then there are 36 names, less than 2 · 20: the next is made at 40, and so on.
    assert changes == [36, 56, 96, 176]
    assert found[-1] == 5


def test_what_is_asked_ahead_is_what_will_be_in_use(store: SqliteStore) -> None:
    learning = begun(store)
    for number in range(NAMES, 100):
        promised = learning.site(HOST, ahead=1).version
        now = learning.site(HOST).version
        contributed(learning, range(number, number + 1))
        assert learning.site(HOST).version == promised >= now


def test_pages_of_known_names_bring_no_version(store: SqliteStore) -> None:
    learning = begun(store)
    for _ in range(10):
        assert set(contributed(learning, range(NAMES))) == {1}
    assert learning.site(HOST).n_names == NAMES


def test_lines_that_one_page_has_say_nothing(store: SqliteStore) -> None:
    site = begun(store).site(HOST)
    assert site.line_counts(site._lines).min() >= 2


def test_rare_lines_of_a_host_are_reported(store: SqliteStore) -> None:
    learning = learner(store)
    assert learning.known_site(HOST) is None
    is_rare = begun(store).known_site(HOST).is_rare
    assert is_rare is not None
    learned = learn((parsed(sphinx(n)), title_of(n), url_of(n)) for n in range(NAMES))
    told = is_rare(learned.lines)
    assert told.tolist() == (learned.line_counts <= 2).tolist()


# --- Going on ------------------------------------------------------------------------------------


def test_what_waits_is_in_the_store_until_it_is_recorded(store: SqliteStore) -> None:
    learning = begun(store)
    assert sum(store.learned.count_waiting().values()) == NAMES
    for place in range(1, 5):
        learning.done(place)
    store.commit()
    again = learner(store)  # the process was killed
    assert numbers(again.resume()) == [4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("max_waiting", [0, 4, 1_000])
@pytest.mark.parametrize("killed_after", [0, 5, 9, 10, 11, 25, 35, 36, 37, 70, 85])
def test_an_interruption_changes_nothing(
    store: SqliteStore, killed_after: int, max_waiting: int
) -> None:
    kinds: list[Callable[[int], str]] = [sphinx, flat, blog_post]
    pages = [(n, kinds[n % 3](n)) for n in range(90)]
    other = SqliteStore(store.path.parent / "other.sqlite")
    try:
        interrupted, whole = Crawl(store, max_waiting), Crawl(other, max_waiting)
        for place, page in enumerate(pages):
            if place == killed_after:
                interrupted.killed()
            interrupted.fetch(*page)
            whole.fetch(*page)
            assert interrupted.judged == whole.judged
        interrupted.finish()
        whole.finish()
        assert interrupted.texts == whole.texts
        for each in (store, other):
            each.commit()
        assert store.learned.site(HOST) == other.learned.site(HOST)
    finally:
        other.close()


def test_what_is_learned_is_written_with_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    store = SqliteStore(path)
    learning = begun(store)
    assert store.learned.site(HOST) is None  # nothing was committed
    store.commit()
    written = store.learned.site(HOST)
    assert written is not None
    contributed(learning, range(NAMES, 20))
    store.add(fetched(20, "")[0], {})
    store.close()
    with_more = SqliteStore(path)
    state = SiteState.from_bytes(with_more.learned.site(HOST) or b"")
    assert state.counts.n_names == 20
    with_more.close()


@pytest.mark.parametrize("damaged", [b"", b"no zstd", b"\x28\xb5\x2f\xfd\0\0"])
def test_damaged_state_is_learned_again(
    store: SqliteStore, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store.learned.set_site(HOST, damaged)
    with caplog.at_level(logging.WARNING):
        assert not learner(store).site(HOST)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{HOST}: what was learned of a site is damaged")
    assert record.getMessage().endswith("it is learned again")
    learning = begun(store)
    assert learning.site(HOST)
    store.commit()
    assert SiteState.from_bytes(store.learned.site(HOST) or b"").site.version == 1


def test_states_in_memory_are_bounded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedup.sites.learner._SITES_IN_MEMORY", 3)
    learning = learner(store)
    for number in range(12):
        host = f"http://h{number}.example"
        for n in range(NAMES):
            progress = learning.arrive(*fetched(n, sphinx(n), host))
        for ready in progress.ready:
            learning.done(ready.place or 0)
    assert len(learning._states) <= 3
    assert all(learning.site(f"h{number}.example") for number in range(12))


# --- Several processes ---------------------------------------------------------------------------


def test_a_host_is_given_up_and_taken_up(store: SqliteStore) -> None:
    first = SiteLearner(store.learned, max_waiting=1000, is_shared=True)
    second = SiteLearner(store.learned, max_waiting=1000, is_shared=True)
    first.take_up({HOST})
    for number in range(5):
        first.arrive(*fetched(number, sphinx(number)))
    assert second.n_waiting == 0
    first.give_up({HOST})
    second.take_up({HOST})
    assert (first.n_waiting, second.n_waiting) == (0, 5)
    for number in range(5, NAMES):
        progress = second.arrive(*fetched(number, sphinx(number)))
    assert numbers(progress) == list(range(NAMES))
    store.commit()
    first.take_up({HOST})
    assert first.site(HOST)


def test_in_its_turn_a_process_knows_what_another_has_learned(tmp_path: Path) -> None:
    with open_store(tmp_path, is_shared=True) as one, open_store(tmp_path, is_shared=True) as two:
        first = SiteLearner(one.learned, max_waiting=1000, is_shared=True)
        second = SiteLearner(two.learned, max_waiting=1000, is_shared=True)
        first.take_up({HOST})
        assert second.known_site(HOST) is None
        assert one.workers.try_begin(waits=True)
        for number in range(NAMES):
            first.arrive(*fetched(number, sphinx(number)))
        one.workers.end()
        assert two.workers.try_begin(waits=True)
        assert second.known_site(HOST) is not None
        two.workers.end()
        assert one.workers.try_begin(waits=True)
        contributed(first, range(NAMES, 5 * NAMES))
        one.workers.end()
        assert two.workers.try_begin(waits=True)
        assert second.site(HOST).version == first.site(HOST).version > 1
        two.workers.end()


def test_a_host_of_another_name_is_not_taken_up(store: SqliteStore) -> None:
    learner(store).arrive(*fetched(1, sphinx(1), "http://a.example:8080"))
    other = SiteLearner(store.learned, max_waiting=1000, is_shared=True)
    other.take_up({"b.example"})
    assert other.names_waiting() == set()
    other.take_up({"a.example"})
    assert other.names_waiting() == {"a.example"}
