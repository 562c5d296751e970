"""What PostgreSQL does in a way of its own: texts that it refuses, groups, and what is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dedup.cli import main
from dedup.document import Document, Match
from dedup.store import JobStore, Page, open_store, summarise
from dedup.store.selection import Selection

NUL = "a\0b"


def test_zeros_and_lone_surrogates_come_back_as_question_marks(
    new_place: Callable[[], str],
) -> None:
    with open_store(new_place()) as store:
        number = store.add(
            Page(NUL, f"text {NUL} \ud800", url=f"http://a.example/{NUL}", title=f"{NUL} \ud800"),
            {},
        )
        found = store.document(number)
        assert found.text == f"text {NUL} \ud800"  # which is kept compressed
        assert (found.url, found.title) == ("http://a.example/a?b", "a?b ?")
        store.urls.finish([(b"k" * 16, f"http://a.example/{NUL}")])
        assert store.urls.is_done(b"k" * 16)


def test_uncommitted_group_is_lost_whole(new_place: Callable[[], str]) -> None:
    place = new_place()
    store = open_store(place, group_units=100, group_seconds=3600)
    store.add(Document("a", "A text."), {"text": b"1"})
    store.urls.queue(b"k" * 16, "http://a.example/", 0)
    store.commit()
    store.add(Document("b", "B text."), {"text": b"2"})
    store.urls.finish([(b"k" * 16, "http://a.example/")])
    store.database.connection.raw.close()  # type: ignore[union-attr]
    with open_store(place) as later:
        assert list(later.exports.page_numbers()) == [1]
        assert later.urls.is_queued(b"k" * 16)
        assert later.add(Document("b", "B text."), {}) == 2


def test_raising_unit_is_rolled_back(new_place: Callable[[], str]) -> None:
    with open_store(new_place()) as store:
        store.add(Document("a", "A text."), {})
        with pytest.raises(ZeroDivisionError):
            _add_and_raise(store)
        store.add(Document("c", "C text."), {})
        assert [store.label(number)[0] for number in store.exports.page_numbers()] == ["a", "c"]


def _add_and_raise(store: JobStore) -> None:
    with store.unit():
        store.add(Document("b", "B text."), {})
        raise ZeroDivisionError


def _fill(store: object, n_pages: int) -> None:
    for n in range(n_pages):
        host = f"{'ab'[n % 2]}.example"
        page = Page(str(n), f"Text {n}", url=f"http://{host}/{n}", title=f"T{n}", size_bytes=10)
        number = store.add(page, {"text": bytes([n])})  # type: ignore[attr-defined]
        copy = Page(f"{n}c", f"Text {n}", url=f"http://{host}/{n}/copy", fetched_at=5.0)
        store.add_duplicate(copy, Match(number, "text", resemblance=1.0))  # type: ignore[attr-defined]
    store.add_skipped("http://a.example/x", "http_404", is_fetched=True, size_bytes=3)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", [r"/1\d$", "nothing"])
def test_selection_by_url_is_that_of_sqlite(
    new_place: Callable[[], str], tmp_path: Path, text: str
) -> None:
    import re

    found = []
    for place in (new_place(), str(tmp_path / "job")):
        with open_store(place) as store:
            _fill(store, 30)
            chosen = Selection(url=re.compile(text), hosts=("a.example",))
            rows = [list(store.exports.page_numbers(chosen)), store.exports.count("pages", chosen)]
            found.append(
                [*rows, list(store.exports.duplicates(Selection(url=re.compile("1/copy"))))]
            )
    assert found[0] == found[1]


def test_counts_and_report_are_those_of_sqlite(
    new_place: Callable[[], str], tmp_path: Path
) -> None:
    found = []
    for place in (new_place(), str(tmp_path / "job")):
        with open_store(place) as store:
            _fill(store, 12)
            store.add_to_counter("links", 7)
            store.add_to_counter("links", 5)
            report = store.report
            found.append(
                (
                    summarise(store),
                    report.active_seconds(6.0),
                    sorted(report.times(2.0, 1e10))[:2],
                    report.resemblances(10),
                    report.group_sizes(),
                    report.stages(),
                    list(report.url_pairs(99)),
                    list(report.fetched_urls(20)),
                    report.listed_duplicates(3),
                    store.decisions.between(1, 99),
                    store.stats.fetched_by_host(),
                    store.stats.latest_urls(3),
                    store.explain.find_any(lambda url: url.endswith("/3")),
                    store.explain.find(["http://a.example/4/copy"]),
                )
            )
    assert found[0] == found[1]
    assert found[0][0]["pages"]["fetched"] == 25


def test_job_is_copied_whole(
    new_place: Callable[[], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, place = tmp_path / "job", new_place()
    with open_store(folder) as store:
        _fill(store, 5)
        for key in (b"a" * 16, b"b" * 16):
            store.urls.queue(key, f"http://a.example/{key!r}", 1, b"{}", slot="a.example")
        expected = summarise(store)
    assert main(["copy", str(folder), place]) == 0
    assert "5 pages, 5 duplicates, 2 URLs copied" in capsys.readouterr().err
    with open_store(place) as store, open_store(folder) as source:
        assert summarise(store) == expected
        assert store.urls.first_queued("a.example", 9) == source.urls.first_queued("a.example", 9)
        assert list(store.exports.pages()) == list(source.exports.pages())
        assert store.add(Document("new", "New."), {}) == source.add(Document("new", "New."), {})
        row = store.urls.queue(b"c" * 16, "http://a.example/c", 1)
        assert row is not None
        assert row.id > 2
    assert main(["copy", str(folder), place]) == 2
    assert "a job or schema with this name already exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [["stats"], ["stats", "--json"], ["stats", "--by", "host"], ["report"], ["export"], ["retry"]],
)
def test_commands_take_an_address(
    new_place: Callable[[], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    place = new_place()
    with open_store(place) as store:
        _fill(store, 4)
        store.check_schemes({})
    assert main([command[0], place, *command[1:]]) == 0, capsys.readouterr().err
    name = place.rpartition("#")[2]
    if command == ["export"]:
        assert len((tmp_path / f"{name}-pages.jsonl").read_text().splitlines()) == 4
        assert len((tmp_path / f"{name}-duplicates.jsonl").read_text().splitlines()) == 4
    if command == ["report"]:
        assert (tmp_path / f"{name}-report.html").exists()
