"""What every store does, run on each implementation: see `dedup.store.interface`.

A further one of jobs joins by a line in `JOB_STORES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from dedup import Deduplicator
from dedup.detectors import default_detectors
from dedup.detectors.key import KeyRecord
from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.keys import key_of
from dedup.rendering.record import HowRead
from dedup.sites.outline import Outline
from dedup.sites.second_look import Rest
from dedup.sites.site import Site
from dedup.store import JobStore, Page, open_store
from dedup.store.interface import Store
from dedup.store.memory import MemoryStore
from dedup.store.records import DONE, HELD, QUEUED, TOO_DEEP, Claims, KnownUrl, QueuedUrl
from dedup.store.selection import Selection
from dedup.store.sql.learned import HostKnowledge
from dedup.store.sql.url_table import UrlTable


def _joined(path: Path) -> JobStore:
    """A shared job, as who judges by its signatures opens it."""
    store = open_store(path, is_shared=True)
    store.workers.on_signatures(lambda *_: None)
    return store


JOB_STORES: dict[str, Callable[[pytest.FixtureRequest, Path], JobStore]] = {
    "sqlite": lambda request, path: open_store(path),
    "shared sqlite": lambda request, path: _joined(path),
    "postgresql": lambda request, path: open_store(request.getfixturevalue("new_place")()),
}
KEYS = [bytes([number]) * 16 for number in range(8)]
A, B, C, D, *_ = KEYS


@pytest.fixture(params=JOB_STORES)
def job(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JobStore]:
    with JOB_STORES[request.param](request, tmp_path) as store:
        yield store


@pytest.fixture(params=["memory", *JOB_STORES])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with JOB_STORES[request.param](request, tmp_path) as store:
        yield store


@pytest.fixture
def urls(job: JobStore) -> UrlTable:
    return job.urls


@pytest.fixture
def learned(job: JobStore) -> HostKnowledge:
    return job.learned


def signatures(store: Store, stage: str, **options: int) -> list[tuple[int, bytes]]:
    batches = store.signatures(stage, **options)
    return [pair for numbers, values in batches for pair in zip(numbers, values, strict=True)]


# --- Documents -----------------------------------------------------------------------------------


def test_documents_come_back_by_ascending_numbers(store: Store) -> None:
    texts = ["A text.", "", "其他的內容", "\ud800 alone"]
    numbers = [store.add(Document(f"id {text!r}", text), {}) for text in texts]
    assert numbers == sorted(set(numbers))
    assert [store.document(number).text for number in numbers] == texts


def test_compared_values_are_restored(store: Store) -> None:
    number = store.add(
        Document(
            "name",
            "A text.",
            url="http://example.com/",
            title="A title | A site",
            heading="A heading",
            own_title="A title",
            source="box",
        ),
        {},
    )
    found = store.document(number)
    assert (found.id, found.url, found.title) == ("name", "http://example.com/", "A title | A site")
    assert (found.heading, found.own_title, found.source) == ("A heading", "A title", "box")


def test_documents_of_other_keys_are_no_duplicates_of_each_other(store: Store) -> None:
    story = " ".join(f"Letter {number} came by the evening post." for number in range(40))
    keys = [key_of({"sku": number}) for number in range(200)]
    for _ in range(2):  # a second index is loaded from the store
        detectors = [KeyRecord(), *default_detectors(store.document)]
        deduplicator = Deduplicator(detectors, store=store)
        first = [
            deduplicator.process(Document(f"first {key}", story, key=key)).match for key in keys
        ]
        again = [
            deduplicator.process(Document(f"near {key}", f"{story} {number}", key=key)).match
            for number, key in enumerate(keys)
        ]
        page = deduplicator.process(Document("page", f"{story} Amen.")).match
        found = [match and store.document(match.original).key for match in again]
        assert found == keys
    assert None not in first  # the second time
    assert page is not None


@pytest.mark.parametrize("n_shingles", [0, 5, 128, 129, 1_024])
def test_rare_lines_are_restored(store: Store, n_shingles: int) -> None:
    numbers = np.arange(n_shingles, dtype=np.uint32)
    rest = Rest(numbers, numbers * 7, is_whole=n_shingles < 1_000)
    first = store.add(Document("a", "A text.", rest=rest), {})
    second = store.add(Document("b", "A text.", rest=None), {})
    found = store.document(first).rest
    assert found is not None
    assert found.to_bytes() == rest.kept().to_bytes()
    assert found.is_whole == (n_shingles <= 128)
    assert store.document(second).rest is None


@pytest.mark.parametrize("number", [-1, 99])
def test_unknown_number_is_a_key_error(store: Store, number: int) -> None:
    store.add(Document("a", "A text."), {})
    with pytest.raises(KeyError):
        store.document(number)


def test_verdicts_do_not_depend_on_the_store(store: Store) -> None:
    story = " ".join(f"Letter {number} came by the evening post." for number in range(40))
    texts = [story, story.upper(), story + " Amen.", "Another text. " * 30]
    deduplicator = Deduplicator(store=store)
    verdicts = [deduplicator.process(Document(str(n), text)) for n, text in enumerate(texts)]
    assert [verdict.match and verdict.match.stage for verdict in verdicts] == [
        None,
        "text",
        "sentences",
        None,
    ]


# --- Signatures ----------------------------------------------------------------------------------


def test_signatures_come_by_stage_and_number(store: Store) -> None:
    first = store.add(Document("a", "A."), {"text": b"1", "minhash": b"2"})
    second = store.add(Document("b", "B."), {"text": b"3"})
    assert signatures(store, "text") == [(first, b"1"), (second, b"3")]
    assert signatures(store, "minhash") == [(first, b"2")]
    assert signatures(store, "none") == []


def test_signatures_after_a_number_are_the_later_ones(store: Store) -> None:
    numbers = [store.add(Document(str(n), str(n)), {"text": bytes([n])}) for n in range(5)]
    for place, number in enumerate(numbers):
        found = [each for each, _ in signatures(store, "text", after=number)]
        assert found == numbers[place + 1 :]
    assert len(signatures(store, "text", after=-1)) == 5


def test_changed_signatures_take_the_place_of_the_old_ones(store: Store) -> None:
    numbers = [store.add(Document(str(n), str(n)), {"text": b"old"}) for n in range(3)]
    store.change_signatures(numbers[1], {"text": b"new", "minhash": b"first"})
    assert signatures(store, "text") == [*zip(numbers, [b"old", b"new", b"old"], strict=True)]
    assert signatures(store, "minhash") == [(numbers[1], b"first")]
    store.change_signatures(numbers[1], {})
    assert [number for number, _ in signatures(store, "text")] == [numbers[0], numbers[2]]


def test_duplicates_take_no_signatures(store: Store) -> None:
    number = store.add(Document("a", "A."), {"text": b"1"})
    store.add_duplicate(Document("b", "A."), Match(number, "text", resemblance=1.0))
    assert signatures(store, "text") == [(number, b"1")]


# --- The queue of URLs ---------------------------------------------------------------------------


def queued(urls: UrlTable, slot: str = "") -> list[bytes]:
    return [row.key for row in urls.first_queued(slot, 99)]


def test_url_is_queued_once(urls: UrlTable) -> None:
    row = urls.queue(A, "http://a.example/", 2, b"request", slot="a", rank=5)
    assert isinstance(row, QueuedUrl)
    assert (row.rank, *row[2:]) == (5, A, "http://a.example/", 2, b"request")
    assert urls.queue(A, "http://other.example/", 0, slot="b") is None
    assert urls.first_queued("a", 9) == [row]
    assert urls.slots() == ["a"]


def test_lowest_rank_goes_first_then_the_url_found_first(urls: UrlTable) -> None:
    for key, rank in ((A, 1), (B, 0), (C, 1), (D, -7)):
        urls.queue(key, f"http://example.com/{rank}", 0, rank=rank)
    assert queued(urls) == [D, B, A, C]
    assert [row.key for row in urls.first_queued("", 2)] == [D, B]


def test_slots_are_those_with_queued_urls(urls: UrlTable) -> None:
    for key, slot in ((A, "b"), (B, "a"), (C, "b")):
        urls.queue(key, "http://example.com/", 0, slot=slot)
    assert urls.slots() == ["a", "b"]
    urls.finish([(B, "http://example.com/")])
    assert urls.slots() == ["b"]
    assert urls.first_queued("a", 9) == []


def test_states_of_a_url(urls: UrlTable) -> None:
    urls.queue(A, "http://example.com/a", 0)
    urls.queue(B, "http://example.com/b", 0, is_held=True)
    urls.finish([(C, "http://example.com/c")])
    assert [urls.state(key) for key in (A, B, C, D)] == [QUEUED, HELD, DONE, None]
    assert [urls.is_queued(key) for key in (A, B, C, D)] == [True, False, False, False]
    assert [urls.is_done(key) for key in (A, B, C, D)] == [False, False, True, False]
    assert urls.find(C) == KnownUrl(DONE, "http://example.com/c")
    assert urls.find(D) is None
    assert urls.known([A, D, C]) == {A, C}
    assert urls.found_as([D, C]) == {C: "http://example.com/c"}
    assert (len(urls), urls.count_queued()) == (3, 1)
    assert {*chain.from_iterable(urls.keys())} == {A, B, C}


def test_failed_url_keeps_its_request_for_another_try(urls: UrlTable) -> None:
    for key in (A, B):
        urls.queue(key, "http://example.com/", 3, b"request")
    urls.finish([(A, "http://example.com/")], has_failed=True)
    urls.finish([(B, "http://example.com/")])
    assert queued(urls) == []
    row = urls.queue_again(A, b"another", slot="s", rank=2)
    assert row is not None
    assert (row.rank, row.depth, row.request) == (2, 3, b"another")
    assert urls.first_queued("s", 9) == [row]
    assert urls.queue_again(D, None, slot="", rank=0) is None


def test_held_urls_of_an_earlier_process_are_new_again(urls: UrlTable) -> None:
    urls.queue(A, "http://example.com/", 0, is_held=True)
    urls.queue(B, "http://example.com/b", 0)
    assert urls.drop_held() == 1
    assert urls.known([A, B]) == {B}
    assert urls.queue(A, "http://example.com/", 0) is not None


def test_too_deep_urls_count_as_unseen(urls: UrlTable) -> None:
    for key, depth in ((A, 3), (B, 4), (C, 4)):
        urls.note_too_deep(key, "http://example.com/", depth, b"deep", slot="s", rank=depth)
    urls.note_too_deep(A, "http://example.com/other", 9)  # known: it stays
    assert (urls.known([A, B]), len(urls), list(chain.from_iterable(urls.keys()))) == (set(), 0, [])
    assert (urls.count_queued(), urls.slots()) == (0, [])
    assert urls.queue(C, "http://example.com/c", 2, b"short", slot="t", rank=7) is not None
    assert urls.first_queued("t", 9)[0][3:] == ("http://example.com/c", 2, b"short")
    urls.finish([(C, "http://example.com/c")])
    urls.finish_all()
    assert [urls.state(key) for key in (A, B, C)] == [TOO_DEEP, TOO_DEEP, DONE]
    assert [urls.count_within(depth) for depth in (2, 3, 4, 0)] == [0, 1, 2, 2]
    urls.queue_within(3)
    assert urls.known([A, B]) == {A}
    assert [row[2:] for row in urls.first_queued("s", 9)] == [
        (A, "http://example.com/", 3, b"deep")
    ]
    urls.queue_within(0)
    assert urls.known([A, B]) == {A, B}


def test_dropped_and_finished_urls_leave_the_queue(urls: UrlTable) -> None:
    for key in (A, B, C):
        urls.queue(key, "http://example.com/", 0, b"request", is_held=key == C)
    urls.drop([A, D])
    assert urls.known([A, B, C]) == {B, C}
    urls.finish_all()
    assert [urls.state(key) for key in (A, B, C)] == [None, DONE, DONE]
    assert (urls.slots(), urls.count_queued()) == ([], 0)


# --- What is learned of hosts --------------------------------------------------------------------


def outline(text: str) -> Outline:
    found = page_text(bounded(f"<p>{text}</p>"), "", site=Site()).outline
    assert found is not None
    return found


def page(name: str, host: str = "a.example") -> Page:
    return Page(
        id="",
        text=f"Text {name}",
        url=f"http://{host}/{name}",
        title=f"Title {name}",
        body=f"<p>{name}".encode(),
        fetched_at=12.5,
        depth=3,
        etag='"v1"',
        source="page",
    )


def test_what_is_known_of_a_host_is_replaced(learned: HostKnowledge) -> None:
    assert learned.site("a.example") is None
    assert learned.hosts() == []
    for host, value in (("b.example", b"1"), ("a.example", b"\0\xff"), ("b.example", b"")):
        learned.set_site(host, value)
    assert learned.hosts() == ["a.example", "b.example"]
    assert learned.site("a.example") == b"\0\xff"
    assert learned.site("b.example") == b""
    assert learned.site("c.example") is None


def test_pages_wait_in_the_order_of_their_arrival(learned: HostKnowledge) -> None:
    places = [
        learned.add_waiting(page(name, host), outline(name))
        for name, host in (("1", "b.example"), ("2", "a.example"), ("3", "b.example"))
    ]
    assert places == sorted(set(places))
    assert learned.count_waiting() == {"b.example": 2, "a.example": 1}
    found = learned.waiting("b.example")
    assert [(each.key, each.title) for each in found] == [
        (places[0], "Title 1"),
        (places[2], "Title 3"),
    ]
    assert [each.url for each in found] == ["http://b.example/1", "http://b.example/3"]
    assert [each.outline.to_json() for each in found] == [
        outline("1").to_json(),
        outline("3").to_json(),
    ]
    learned.drop_waiting(places[0])
    assert list(learned.count_waiting()) == ["a.example", "b.example"]


def test_waiting_page_is_unchanged(learned: HostKnowledge) -> None:
    wanted = page("1")
    found = learned.waiting_page(learned.add_waiting(wanted, outline("1")))
    for name in ("text", "url", "title", "body", "fetched_at", "depth", "etag", "source"):
        assert getattr(found, name) == getattr(wanted, name)
    assert (found.own_title, found.site_version) == (None, None)


def test_of_early_pages_the_last_are_kept(job: JobStore) -> None:
    numbers = [job.add(page(str(n)), {}) for n in range(5)]
    for number in numbers:
        job.learned.add_early(number, "a.example", outline(str(number)), at_most=3)
    assert [each.key for each in job.learned.early("a.example")] == numbers[2:]
    first = job.learned.early("a.example")[0]
    assert (first.title, first.url) == ("Title 2", "http://a.example/2")
    assert [job.learned.count_early(f"{name}.example") for name in "ab"] == [3, 0]
    job.learned.drop_early(numbers[3:])
    assert [each.key for each in job.learned.early("a.example")] == [numbers[2]]
    assert job.learned.early("b.example") == []


def test_encoding_of_a_host_is_that_of_most_pages_then_the_first_by_name(
    learned: HostKnowledge,
) -> None:
    assert learned.encoding("a.example") is None
    for name in ("gb18030", "cp1252", "gb18030", "cp1252", "koi8-r"):
        learned.add_encoding("a.example", name)
    assert learned.encoding("a.example") == "cp1252"
    learned.add_encoding("a.example", "gb18030")
    assert learned.encoding("a.example") == "gb18030"
    assert learned.encoding("b.example") is None


# --- What is noted with a commit -----------------------------------------------------------------


def test_what_is_to_be_noted_is_noted_before_every_commit(job: JobStore) -> None:
    values = iter([b"1", b"2", b"3"])
    job.learned.before_commit(lambda: job.learned.set_site("a.example", next(values)))
    job.add(Document("a", "A text."), {})
    job.commit()
    assert job.learned.site("a.example") == b"1"
    job.add(Document("b", "B text."), {})
    job.commit()
    assert job.learned.site("a.example") == b"2"


def test_pages_that_were_kept_apart_come_in_their_order(job: JobStore) -> None:
    numbers = [job.add(page(str(n)), {}) for n in range(3)]
    job.note_apart(numbers[2], numbers[1], ["Other."])
    job.note_apart(numbers[1], numbers[0], ["Once.", "\ud800 有"])
    job.note_apart(numbers[2], numbers[0], [])
    found = [(each.number, each.original, list(each.lines)) for each in job.explain.all_apart()]
    assert found == [
        (numbers[1], numbers[0], ["Once.", "? 有"]),
        (numbers[2], numbers[0], []),
    ]


def test_damaged_record_of_kept_page_is_a_clear_error(
    job: JobStore,
) -> None:
    numbers = [job.add(page(str(n)), {}) for n in range(2)]
    job.note_apart(numbers[1], numbers[0], ["Once."])
    with job.unit() as connection:
        connection.execute("UPDATE apart SET lines = ?", ["[1"])
    with pytest.raises(
        StateError, match=f"the recorded difference of page {numbers[1]} is damaged"
    ):
        job.explain.apart(numbers[1])
    with pytest.raises(StateError, match="is damaged"):
        list(job.explain.all_apart())


def test_no_part_of_a_store_has_more_than_35_members(job: JobStore) -> None:
    parts = [each for name, each in vars(job).items() if not name.startswith("_")]
    for part in parts:
        assert len(_public(dir(type(part)))) <= 35, part
    assert len({*_public(dir(JobStore)), *_public(vars(job))}) <= 35


def _public(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def test_what_stands_for_a_body_is_no_body(job: JobStore) -> None:
    job.keep_bodies = False
    page = Page(id="", text="Some text.", url="http://a/", body=b"<p>Some text.")
    page.take_reduced(b"kept")
    number = job.add(page, {})
    assert (job.exports.reduced(number), job.body(number)) == (b"kept", None)
    job.keep_bodies = True
    other = job.add(replace(page, url="http://b/"), {})
    assert (job.exports.reduced(other), job.body(other)) == (None, page.body)
    assert [found for _, found, _ in job.report.stored_bodies()] == [other]


# --- What is declared of the use of pages ---------------------------------------------------------

_NOAI, _NONE = '[["meta","robots","noai"]]', ""


def test_what_pages_declare_goes_with_them(job: JobStore) -> None:
    declared = job.learned.preferences
    wanted = replace(page("1"), preferences=_NOAI)
    silent = job.add(replace(page("0"), preferences=_NONE), {})
    place = job.learned.add_waiting(wanted, outline("1"))
    assert job.learned.waiting_page(place).preferences == _NOAI
    assert list(declared.count_pages()) == []
    number = job.add(job.learned.waiting_page(place), {})
    job.learned.drop_waiting(place)
    assert declared.of_page(-place) == ""
    assert [declared.of_page(each) for each in (silent, number)] == ["", _NOAI]
    assert list(declared.count_pages()) == [(_NOAI, 1)]
    assert [each[2] for each in job.exports.declared()] == ["", _NOAI]
    job.refreshes.replace_page(number, replace(page("1"), preferences=None), {})
    assert declared.of_page(number) == _NOAI
    job.refreshes.replace_page(number, replace(page("1"), preferences=_NONE), {})
    assert declared.of_page(number) == ""


def test_what_hosts_declare_is_replaced(job: JobStore) -> None:
    declared = job.learned.preferences
    for source, value in (("robots.txt", "old"), ("tdmrep.json", "é"), ("robots.txt", "new")):
        declared.note_host("http://a.example", source, value)
    assert declared.of_host("http://a.example") == ["new", "é"]
    declared.note_host("http://a.example", "robots.txt", "")
    declared.note_host("http://b.example", "robots.txt", "")
    assert declared.of_host("http://a.example") == ["é"]
    assert [(origin, value) for origin, _, _, value in declared.each_host()] == [
        ("http://a.example", "é")
    ]


# --- Copies on several hosts ----------------------------------------------------------------------


def test_groups_of_copies_are_on_several_hosts_and_say_what_was_recorded(job: JobStore) -> None:
    first, second, third = (job.add(page(str(n)), {}) for n in range(3))
    claims = Claims("2026-03-01", "http://a.example/\ud800", ("http://a.example/é", "http://c/"))

    def drop(url: str, original: int, claims: Claims | None = None) -> None:
        job.add_duplicate(Page("", "copy", url=url, claims=claims), Match(original, "text"))

    drop("http://a.example/copy", first)
    drop("http://a.example/copy-2", second)
    drop("http://b.example/x", second, claims)
    drop("http://c.example/x", third, Claims())
    assert list(job.exports.copies.groups()) == [(second, 3), (third, 2)]
    kept, *copies = job.exports.copies.of(second, 10)
    assert (kept.host, kept.claims) == ("a.example", None)
    wanted = claims._replace(canonical_url="http://a.example/?")
    assert [(each.host, each.claims) for each in copies] == [
        ("b.example", wanted),
        ("a.example", None),
    ]
    assert len(list(job.exports.copies.of(second, 1))) == 2
    assert [each.claims for each in job.exports.copies.of(third, 10)][1:] == [Claims()]
    job.refreshes.drop_duplicate(job.refreshes.duplicates(second)["http://b.example/x"])
    assert list(job.exports.copies.groups()) == [(third, 2)]
    drop("http://b.example/x", second)
    assert [each.claims for each in job.exports.copies.of(second, 10)] == [None] * 3


def test_pages_can_be_left_out_of_exports_with_their_duplicates(job: JobStore) -> None:
    numbers = [job.add(page(str(n)), {}) for n in range(4)]
    for number in numbers[:2]:
        copy = Document("", "copy", url=f"http://a.example/copy-of-{number}")
        job.add_duplicate(copy, Match(number, "body"))
    chosen = Selection(without=frozenset([numbers[0], numbers[3]]))
    assert list(job.exports.page_numbers(chosen)) == numbers[1:3]
    assert [each["duplicate_of"] for each in job.exports.duplicates(chosen)] == [numbers[1]]
    assert [job.exports.count(table, chosen) for table in ("pages", "duplicates")] == [2, 1]


# --- Pages dropped for one of an earlier crawl ----------------------------------------------------


def test_a_page_of_an_earlier_crawl_is_named_and_judged_again(job: JobStore) -> None:
    first = job.add(page("1"), {})
    origin = job.decisions.earlier.origin(first)
    dropped = replace(page("2"), url="http://a.example/2", title="Café", fetched_at=7.0)
    job.decisions.earlier.add(dropped, Match(first, "simhash", 2, 0.9), "crawls/old", origin)
    assert {reason: n for reason, (n, _) in job.stats.skipped().items()} == {"earlier_crawl": 1}
    found = job.explain.find(["http://a.example/2"])
    assert found is not None
    details = job.explain.details(*found)
    assert (details["original"], details["original_job"]) == (first, "crawls/old")
    assert (details["stage"], details["distance"], details["title"]) == ("simhash", 2, "Café")
    assert job.decisions.earlier.page(found.number).text == dropped.text
    selections = [Selection(hosts=("a.example",)), Selection(url=re.compile("/2$"))]
    for chosen in (*selections, Selection(stages=("simhash",)), Selection(since=6.0)):
        (row,) = job.exports.duplicates(chosen)
        assert (row["url"], row["duplicate_of_job"]) == ("http://a.example/2", "crawls/old")
        assert job.exports.count("earlier", chosen) == 1
    assert not list(job.exports.duplicates(Selection(stages=("body",))))

    job.urls.finish([(A, "http://a.example/2")])
    job.refreshes.begin()
    assert job.urls.state(A) == QUEUED
    assert job.refreshes.duplicates() == {"http://a.example/2": found.number}
    job.refreshes.drop_duplicate(found.number)
    assert not list(job.exports.duplicates())
    assert job.exports.count("earlier") == 0
    assert job.stats.skipped() == {}


def test_how_pages_were_read_is_kept_and_turned_over(job: JobStore) -> None:
    table, host = job.learned.rendering, "a.example"
    sketch: frozenset[int] | None = frozenset({1, 2**64 - 1})
    job.add(Page("", "A text.", url="http://a.example/1", etag="e"), {})
    job.add_duplicate(Page("", "A text.", url="http://a.example/2"), Match(1, "text"))
    for n, why, is_same in ((0, "first", True), (1, "static", None), (2, "duplicate", None)):
        url = f"http://a.example/{n}"
        table.note(HowRead(host, url, 4, "full", False, why, 1.5 * n, is_same, sketch))
        sketch = None
    table.note(HowRead(host, "http://a.example/3", 4, "full", True, "audit", 1.0, is_same=False))
    table.note(HowRead(host, "http://a.example/4", None, "shell", False, "failed: timeout"))
    table.note(HowRead(host, "http://a.example/5", 5, "shell", True, "shell", is_same=False))
    (template,) = table.templates(host)
    assert (template.number, template.n_same, template.n_other) == (4, 1, 1)
    assert template.sketch == {1, 2**64 - 1}
    assert table.of_page(host, "http://a.example/9") is None
    told = table.summary(1)
    assert (told["rendered"], told["failed"]) == ({"audit": 1, "shell": 1}, {"timeout": 1})
    assert (told["compared"], told["seconds"]) == (2, 5.5)
    assert job.refreshes.validators(1)
    table.turn_over(host, 4, since=1)
    assert table.hosts_to_render() == []
    table.turn_over(host, 4, since=0)
    assert table.hosts_to_render() == [host]
    found = table.to_render(host, 9)
    assert {each.url[-1]: each[1:] for each in found} == {"1": (1, None), "2": (None, 2)}
    for each in found:
        table.note_queued(host, each.url)
    assert table.duplicates_again() == {"http://a.example/2": 2}
    assert not job.refreshes.validators(1)  # its server knows nothing of what scripts add
    table.note(HowRead(host, "http://a.example/1", 4, "full", False, "later: crashed", period=3))
    assert [each.page for each in table.to_render(host, 9, "later: ")] == [1]
    table.note_queued(host, "http://a.example/1")
    assert not table.hosts_to_render("later: ")
    told = table.summary(1)
    assert (told["failed"], told["later"]) == ({"timeout": 1}, {"crashed": 1})
    assert table.of_page(host, "http://a.example/1").why == "last: crashed"
    assert table.templates(host)[0].period == 3
    assert table.turn_over_failed(["rendering_timeout"]) == {"rendering_timeout": 1}
    assert table.turn_over_failed() == {}
