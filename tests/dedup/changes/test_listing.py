"""What `Changes` tells of a store, refresh by refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dedup.changes import Change, Changes, settle
from dedup.document import Match
from dedup.export import page_rows
from dedup.report.visits import visits
from dedup.store import JobStore, Page, open_store
from dedup.times import iso_time

SITE = "http://a.example/"
STORES: dict[str, Callable[[pytest.FixtureRequest, Path], JobStore]] = {
    "sqlite": lambda request, path: open_store(path),
    "postgresql": lambda request, path: open_store(request.getfixturevalue("new_place")()),
}


class Job:
    """A job whose pages are visited; the clock is its own."""

    def __init__(
        self, store: JobStore, folder: Path, monkeypatch: pytest.MonkeyPatch, **texts: str
    ) -> None:
        self.store, self._folder, self._now = store, folder, 1_000.0
        monkeypatch.setattr("time.time", self._tick)
        self._texts = dict(texts)
        self.numbers = {name: self._add(name, text) for name, text in texts.items()}
        store.set_meta("finished", "1.0")

    def _tick(self) -> float:
        self._now += 1
        return self._now

    def _page(self, name: str, text: str) -> Page:
        return Page(id="", text=text, url=SITE + name, title=name, fetched_at=self._tick())

    def _add(self, name: str, text: str) -> int:
        return self.store.add(self._page(name, text), {})

    def visit(self, *, new: dict[str, str] | None = None, **found: str) -> dict[str, Change]:
        """Refresh: pages are as they were, but for results and new texts, which have a space.

        Returns:
            What is told, by the last part of the URL.
        """
        refreshes = self.store.refreshes
        refreshes.begin()
        for name, number in self.numbers.items():
            result = found.get(name, "unchanged")
            if " " in result and not result.startswith("failed"):
                refreshes.replace_page(number, self._page(name, result), {})
                result = "changed"
            refreshes.note_visit(SITE + name, result)
        for name, text in (new or {}).items():
            self.numbers[name] = self._add(name, text)
        settle(self.store)
        self.store.set_meta("finished", "1.0")
        return self.told()

    def told(self, since: float | None = None) -> dict[str, Change]:
        rows = Changes(self.store, since, self._folder).rows()
        return {each.url.removeprefix(SITE): each for each in rows}

    def copy(self, name: str, of: str) -> None:
        """Record a page that was fetched now as a duplicate."""
        self.store.add_duplicate(self._page(name, self._texts[of]), Match(self.numbers[of], "text"))

    def exported(self) -> dict[str, tuple[str | None, str | None]]:
        """`gone_at` and `moved_to` of the exported pages that are away."""
        names = "url", "gone_at", "moved_to"
        rows = [tuple(row.values()) for row in page_rows(self.store, names)]
        return {url.removeprefix(SITE): (at, to) for url, at, to in rows if at or to}


@pytest.fixture(params=STORES)
def new_job(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Job]]:
    store = STORES[request.param](request, tmp_path / "job")
    yield lambda **texts: Job(store, tmp_path, monkeypatch, **texts)
    store.close()


def _kinds(told: dict[str, Change]) -> dict[str, str]:
    return {name: each.change for name, each in told.items()}


def test_new_and_changed_pages_are_told_once(new_job: Callable[..., Job]) -> None:
    job = new_job(a="The text of a.", b="The text of b.")
    assert job.visit() == {}
    told = job.visit(a="Another text of a.", new={"c": "The text of c."})
    assert _kinds(told) == {"a": "changed", "c": "new"}
    assert (told["a"].came, told["a"].went) == (["Another text of a."], ["The text of a."])
    assert job.visit() == {}


def test_since_compares_with_what_was_then(new_job: Callable[..., Job]) -> None:
    job = new_job(a="The text of a.", b="The text of b.")
    job.visit(a="Another text of a.")
    job.visit(a="The text of a.", b="Another text of b.")
    first, second = job.store.refreshes.changes.refreshes()
    assert _kinds(job.told(second.began)) == {"a": "changed", "b": "changed"}
    assert _kinds(job.told(first.began)) == {"b": "changed"}  # `a` is what it was
    assert [visit.outcome for visit in job.store.refreshes.changes.visits(SITE + "b")] == [
        "unchanged",
        "changed",
    ]


def test_the_history_of_a_page_has_each_change_of_it(new_job: Callable[..., Job]) -> None:
    job = new_job(a="One text of a.", b="Another one of b.")
    for text in ("A second text.", "A  second, text.", "The third text."):
        job.visit(a=text)
    found = Changes(job.store, None, job._folder).history(SITE + "a")
    assert [(each.went, each.came) for each in found] == [
        (["A  second, text."], ["The third text."]),
        (["One text of a."], ["A second text."]),
    ]
    assert Changes(job.store, None, job._folder).history(SITE + "b") == []
    (listed,) = visits(job.store)["changes"]
    assert [each["came"] for each in listed["history"]] == [["A second text."]]


def test_gone_needs_two_visits_and_failures_do_not_count(new_job: Callable[..., Job]) -> None:
    job = new_job(**dict.fromkeys("bcde", "The text."), a="The text of a.")
    assert job.visit(a="missing") == {}
    assert job.visit(a="failed: http_503") == {}
    assert _kinds(job.visit(a="missing")) == {"a": "gone"}
    assert job.visit(a="missing") == {}
    assert _kinds(job.visit()) == {"a": "back"}
    assert job.visit(a="missing") == {}
    assert job.visit() == {}
    assert _kinds(job.visit(a="gone")) == {"a": "gone"}  # 410
    assert _kinds(job.visit(a="Another text of a.")) == {"a": "back"}


def test_most_pages_of_a_host_are_gone_only_if_they_stay_away(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    away = dict.fromkeys("abc", "missing")
    (told,) = job.visit(**away).values()
    assert (told.url, told.change) == ("a.example", "failed")
    assert told.note.startswith("host answered http_404 for 60% of its pages")
    assert job.store.stats.refreshed() == {"number": 1, "failed": 3, "unchanged": 2}
    assert job.visit() == {}
    assert _kinds(job.visit(**away)) == {"a.example": "failed"}
    assert job.visit(**away) == {}
    assert _kinds(job.visit(**away)) == dict.fromkeys("abc", "gone")
    assert job.visit(**away) == {}


def test_pages_that_are_gone_say_nothing_of_their_host(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    assert _kinds(job.visit(a="gone", b="gone")) == {"a": "gone", "b": "gone"}
    assert _kinds(job.visit(a="missing", b="gone", c="gone")) == {"c": "gone"}
    assert job.visit(a="missing", b="missing", c="missing", d="missing") == {}
    assert _kinds(job.visit(a="back", b="missing", c="missing", d="missing")) == {
        "a": "back",
        "d": "gone",
    }


def test_pages_that_show_the_text_of_others_in_two_visits_are_gone(
    new_job: Callable[..., Job],
) -> None:
    """As a server says that has no status for it, or scripts that show a route."""
    job = new_job(**{name: f"The text of {name}." for name in "abcdefgh"})
    other = dict.fromkeys("abc", "failed: other_text")
    assert job.visit(**other) == {}
    assert job.visit(a="failed: timeout") == {}
    assert _kinds(job.visit(a="failed: other_text")) == {"a": "gone"}
    assert job.visit(**other) == {}
    assert _kinds(job.visit(**other)) == {"b": "gone", "c": "gone"}
    assert job.store.stats.refreshed() == {"number": 5, "gone": 3, "unchanged": 5}
    more = {**other, **dict.fromkeys("de", "failed: other_text")}
    assert job.visit(**more) == {}  # two of the five that were there
    assert _kinds(job.visit(**more)) == {"d": "gone", "e": "gone"}
    assert _kinds(job.visit()) == dict.fromkeys("abcde", "back")


def test_most_pages_of_a_host_are_not_gone_for_showing_one_text(
    new_job: Callable[..., Job],
) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    for _ in range(3):
        told = job.visit(**dict.fromkeys("abc", "failed: other_text"))
        assert _kinds(told) == {"a.example": "failed"}


@pytest.mark.parametrize(
    ("result", "note"),
    [("failed: noindex", "marked noindex"), ("failed: not_html", "no longer a page")],
)
def test_what_is_no_page_to_store_in_two_visits_in_a_row_is_gone(
    new_job: Callable[..., Job], result: str, note: str
) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    assert job.visit(a=result, b=result) == {}
    assert job.visit(a="failed: http_503") == {}
    told = job.visit(a=result, b=result)
    assert {name: (each.change, each.note) for name, each in told.items()} == {"a": ("gone", note)}
    assert _kinds(job.visit(a=result, b=result)) == {"b": "gone"}
    assert job.store.stats.refreshed() == {"number": 4, "gone": 2, "unchanged": 3}
    job.store.refreshes.retention.sum_up(0)
    assert job.visit(a=result, b="missing") == {}
    assert job.exported().keys() == {"a", "b"}
    assert job.store.exports.gone_pages().keys() == {job.numbers["a"], job.numbers["b"]}
    assert _kinds(job.visit(b="Another text of b.")) == {"a": "back", "b": "back"}


def test_what_is_no_page_does_not_count_if_most_pages_are_none(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    for _ in range(3):
        (told,) = job.visit(**dict.fromkeys("abc", "failed: noindex")).values()
        assert told.note.startswith("host answered noindex for 60% of its pages")
    assert job.visit(a="failed: not_html") == {}  # not the same in two visits
    assert _kinds(job.visit(a="failed: not_html")) == {"a": "gone"}


def test_a_document_that_is_not_read_any_more_is_not_gone(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    page = Page(id="", text="A report.", url=f"{SITE}r.pdf", source="document", fetched_at=1.0)
    job.numbers["r.pdf"] = job.store.add(page, {})
    for _ in range(3):
        assert job.visit(**{"r.pdf": "failed: not_html"}) == {}


def test_a_single_page_can_be_gone(new_job: Callable[..., Job]) -> None:
    job = new_job(a="The text of a.")
    assert job.visit(a="missing") == {}
    assert _kinds(job.visit(a="missing")) == {"a": "gone"}


def test_what_is_gone_counts_only_when_the_visit_has_ended(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    job.visit()
    job.store.refreshes.begin()
    job.store.refreshes.note_visit(SITE + "a", "gone")
    assert job.told() == {}
    job.store.set_meta("finished", "1.0")
    assert _kinds(job.told()) == {"a": "gone"}


def test_moved_pages_have_the_other_url(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    job.store.urls.add_alias(SITE + "a", SITE + "new-a", "redirect")
    told = job.visit(a="moved", b="gone")
    assert _kinds(told) == {"a": "moved", "b": "gone"}
    assert told["a"].moved_to == SITE + "new-a"
    copy = Page(id="", text="The text of c.", url=SITE + "new-c", fetched_at=9e9)
    job.store.add_duplicate(copy, Match(job.numbers["c"], "text"))
    told = job.visit(a="moved", b="gone", c="gone")
    assert _kinds(told) == {"c": "moved"}  # the same text is under another URL
    assert told["c"].moved_to == SITE + "new-c"


def test_exports_have_what_is_told_of_pages_that_are_away(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcdefgh"})
    assert job.exported() == {}
    job.store.urls.add_alias(SITE + "a", SITE + "new-a", "redirect")
    job.visit(a="moved", b="missing", c="missing", e="moved", f="missing", g="missing")
    job.copy("new-b", of="b")
    told = job.visit(a="moved", b="missing", c="missing", f="missing", g="missing")
    assert _kinds(told) == {"b": "moved", "c": "gone", "e": "back", "f": "gone", "g": "gone"}
    changes = {**job.told(0.0), **told}
    del changes["e"]
    expected = {name: (iso_time(changes[name].seen_at), changes[name].moved_to) for name in "abcfg"}
    assert job.exported() == expected
    assert [expected[name][1] for name in "abc"] == [SITE + "new-a", SITE + "new-b", None]
    assert job.visit(b="missing", c="missing", f="missing", g="missing").keys() == {"a"}  # back
    assert job.exported() == {name: expected[name] for name in "bcfg"}


def test_a_copy_that_is_gone_or_was_not_there_for_long_is_no_new_url(
    new_job: Callable[..., Job],
) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    job.copy("old-a", of="a")
    for _ in range(2):
        job.visit()
    job.copy("new-b", of="b")
    job.visit(a="missing", b="missing")
    refreshes = job.store.refreshes
    job.visit(a="missing", b="missing")
    assert {name: each.moved_to for name, each in job.told(0.0).items() if each.moved_to} == {}
    job.copy("newer-b", of="b")
    job.copy("newest-b", of="b")
    refreshes.begin()
    refreshes.note_visit(SITE + "newest-b", "gone")
    job.store.set_meta("finished", "1.0")
    assert job.exported()["b"][1] == SITE + "newer-b"
    assert job.exported()["a"][1] is None


def test_what_is_gone_is_exported_as_such_when_the_visit_has_ended(
    new_job: Callable[..., Job],
) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    job.visit()
    job.store.refreshes.begin()
    job.store.refreshes.note_visit(SITE + "a", "gone")
    assert job.exported() == {}
    job.store.set_meta("finished", "1.0")
    assert job.exported().keys() == {"a"}


def test_a_page_leads_where_it_redirects_to_last(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    for target in "xy":
        job.store.urls.add_alias(SITE + "a", SITE + target, "redirect")
        job.visit(a="moved")
    assert job.exported()["a"][1] == SITE + "y"


def test_redirects_to_one_page_are_no_moves(new_job: Callable[..., Job]) -> None:
    job = new_job(**{name: f"The text of {name}." for name in "abcde"})
    for name in "abcd":
        job.store.urls.add_alias(SITE + name, SITE + "login", "redirect")
    (told,) = job.visit(**dict.fromkeys("abcd", "moved")).values()
    assert told.note.startswith("host answered redirect_to_one_page for 80% of its pages")


def test_a_template_is_told_once(new_job: Callable[..., Job]) -> None:
    names = [f"p{n}" for n in range(10)]
    job = new_job(**{name: f"The text of {name}." for name in names})
    texts = {name: f"A new menu\nViewed {name[1]} times\nThe text of {name}." for name in names}
    texts["p3"] += "\nOne more line."
    told = job.visit(**texts)
    assert _kinds(told) == {"a.example": "template", "p3": "changed"}
    assert (told["p3"].came, told["p3"].went) == (["One more line."], [])
    host = told["a.example"]
    assert host.note == "lines that 10 pages share have changed"
    assert (host.came, host.went) == (["A new menu", "Viewed 0 times"], [])
    assert job.store.stats.refreshed() == {"number": 1, "changed": 1, "template": 9}


def test_dates_of_updates_are_told_of_no_page(new_job: Callable[..., Job]) -> None:
    then, now = "Last updated on Dec 16, 2022 by Ann", "Last updated on Jan 3, 2023 by Ben"
    job = new_job(**{name: f"The text of {name}.\n{then}" for name in "abc"})
    told = job.visit(a=f"The text of a.\n{now}", b=f"Another text of b.\n{now}")
    assert _kinds(told) == {"b": "changed"}
    assert (told["b"].came, told["b"].went) == (["Another text of b."], ["The text of b."])
    (visit,) = job.store.refreshes.changes.visits(SITE + "a")
    assert visit.outcome == "template"


def test_commits_behind_dates_of_updates_are_told_of_no_page(new_job: Callable[..., Job]) -> None:
    line = "Last modified May 3, 2024: {} (#15{}) (d916d925{})"
    job = new_job(**{name: f"The text of {name}." for name in "abc"})
    whats = {"a": "Fix a link", "b": "Say how this is done", "c": "Add all that is new"}
    then = {name: f"The text of {name}.\n{line.format(whats[name], 1, 1)}" for name in "abc"}
    assert job.visit(**then) == {}
    now = {name: f"The text of {name}.\n{line.format('Spell it', 2, 2)}" for name in "ab"}
    assert job.visit(**now, c=f"New text of c.\n{line.format('Rewrite', 3, 3)}").keys() == {"c"}


def test_of_a_template_what_most_pages_share_is_shown_first(new_job: Callable[..., Job]) -> None:
    job = new_job(**{f"p{n}": f"Old menu\nThe text of p{n}." for n in range(12)})
    lines = [[*"abcdefghij"][: 10 - n // 2] for n in range(12)]  # on 12, 12, 12, 12, 12, 10...
    told = job.visit(
        **{
            f"p{n}": "\n".join([*(f"New {each}" for each in reversed(own)), f"The text of p{n}."])
            for n, own in enumerate(lines)
        }
    )
    assert list(told["a.example"].came) == [f"New {each}" for each in "abcde"]
    assert list(told["a.example"].went) == ["Old menu"]


def test_a_page_that_was_a_duplicate_is_not_new(new_job: Callable[..., Job]) -> None:
    job = new_job(a="The text of a.")
    copy = Page(id="", text="The text of a.", url=SITE + "b", title="b", fetched_at=1_001.0)
    job.store.add_duplicate(copy, Match(job.numbers["a"], "text"))
    refreshes = job.store.refreshes
    ((_, number),) = refreshes.duplicates().items()
    refreshes.begin()
    refreshes.replace_page(job.numbers["a"], job._page("a", "Another text."), {})
    page = job._add("b", "The text of a.")
    refreshes.keep_duplicate(number, page)
    refreshes.drop_duplicate(number)
    job.store.set_meta("finished", "1.0")
    assert _kinds(job.told()) == {"a": "changed"}


def test_a_job_without_a_refresh_has_new_pages_only(new_job: Callable[..., Job]) -> None:
    job = new_job(a="The text of a.")
    assert _kinds(job.told()) == {"a": "new"}
