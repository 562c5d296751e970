"""Why a page was kept or dropped, of a job that has every outcome in it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from dedup import DedupConfig, Deduplicator, Document
from dedup.cli import main
from dedup.detectors import default_detectors
from dedup.detectors.key import KeyRecord
from dedup.explain.comparison import decide
from dedup.explain.fate import find_fate
from dedup.explain.replay import Replay
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.keys import key_of
from dedup.sites.site import Site
from dedup.store import Page, SqliteStore
from dedup.urls import canonical_url, url_key

SITE = "http://site.example"
WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi", "su") for b in "nrstv" for c in "aeiouy"]


def prose(name: str, count: int = 300) -> list[str]:
    choose = random.Random(name)
    sentences = [choose.sample(WORDS, 10) for _ in range(count // 10)]
    return [" ".join(words).capitalize() + "." for words in sentences]


STORY = prose("story")
LONGEST = sorted(STORY, key=lambda sentence: len(sentence.replace(" ", "")), reverse=True)[:3]


def edited(between: str) -> str:
    sentences = (s.replace(" ", between, 1) if s in LONGEST else s for s in STORY)
    return " ".join(sentences)


HOSTILE = "\x1b[2J\x1b]0;title\x07 [bold red]markup[/] \u202eabc\x9b5n"

# The pages in their order, and the stage that drops each; "": it is stored.
PAGES: dict[str, tuple[str, str]] = {
    "/a": (" ".join(STORY), ""),
    "/copy": (" ".join(STORY), "body"),
    "/upper": (" ".join(STORY).upper(), "text"),
    "/more": (" ".join([*STORY, "And so it ended."]), "sentences"),
    # The longest sentences are others: by a word each, and by four, which moves the fingerprint.
    "/edited": (edited(" and "), "simhash"),
    "/spread": (edited(" and" * 4 + " "), "minhash"),
    "/other": (" ".join(prose("another")), ""),
    "/short": ("Page not found.", ""),
    "/empty": ("", ""),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    store = SqliteStore(folder / "crawl.sqlite")
    store.check_schemes({"URL": {"rules": ["slash"]}}, of="URLs")
    deduplicator = Deduplicator(store=store)
    for path, (text, _) in PAGES.items():
        body = f"<p>{text}".encode() if path in ("/a", "/copy") else f"{path}{text}".encode()
        title = HOSTILE if path == "/other" else "Title of the story"
        url = SITE + path
        deduplicator.process(
            Page(id="", text=text, url=url, title=title, body=body, fetched_at=1.7e9, status=200)
        )
        store.urls.finish([(url_key(canonical_url(url)), url)])
    store.urls.queue(url_key(canonical_url(f"{SITE}/later")), f"{SITE}/later", 1)
    store.urls.finish([(url_key(canonical_url(f"{SITE}/done")), f"{SITE}/done")])
    store.add_skipped(f"{SITE}/gone", "http_404", detail=HOSTILE, is_fetched=True)
    store.add_skipped("no url at all", "invalid_url", is_fetched=False)
    waiting = Page(id="", text="Not yet.", url=f"{SITE}/waits", title="Patience", fetched_at=1.7e9)
    outline = page_text(bounded("<p>Not yet.</p>"), "Patience", site=Site()).outline
    assert outline is not None
    store.learned.add_waiting(waiting, outline)
    store.urls.add_alias(f"{SITE}/old", f"{SITE}/more", "redirect")
    store.close()
    return folder


@pytest.fixture
def store(folder: Path):
    store = SqliteStore(folder / "crawl.sqlite", read_only=True)
    yield store
    store.close()


def why(folder: Path, url: str, capsys: pytest.CaptureFixture[str]) -> str:
    status = main(["why", str(folder), url])
    printed = capsys.readouterr().out
    assert status == int("never seen" in printed)
    assert not [line for line in printed.splitlines() if line != line.rstrip()]  # no padding
    return " ".join(printed.split())


@pytest.mark.parametrize("path", PAGES)
def test_every_decision_is_the_same_when_made_again(store: SqliteStore, path: str) -> None:
    fate = find_fate(store, SITE + path)
    stage = PAGES[path][1]
    assert (fate.outcome, fate.stage) == (("duplicate", stage) if stage else ("stored", None))
    assert fate.number is not None
    read = store.dropped_page if stage else store.page
    reports = Replay(store).explain(read(fate.number), before=fate.number)
    matches = [(report.stage, report.match) for report in reports if report.match]
    assert [name for name, _ in matches] == ([stage] if stage else [])
    for report in reports:
        assert report.match is None or report.match.original in {
            each.number for each in report.candidates
        }
    for _, match in matches:
        assert (match.original, match.distance) == (fate.original, fate.distance)
        assert match.resemblance == fate.resemblance


# What is asked for, and a part of what is said.
FATES = {
    "/a": "stored, as page 1; its duplicates: body 1, minhash 1, sentences 1, simhash 1, text 1",
    "/copy": "dropped, found by body (resemblance 1.000), as a duplicate of http://site.example/a",
    "/upper": "found by text",
    "/more": "longest sentences shared",
    "/edited": "fingerprints differ in",
    "/spread": "of 11 bands agree",
    "/empty": "it has no text",
    "/short": "too short for a fingerprint",
    "/gone": "not compared: the server answered 404 (http_404)",
    "/old": "it redirects to http://site.example/more http://site.example/more dropped",
    "/later": "still queued",
    "/waits": "waiting: fetched, but not judged until more is known of its site",
    "/done": "processed; no separate record",
    "/shorter": "never seen",
}


@pytest.mark.parametrize("path", FATES)
def test_every_outcome_has_words(
    folder: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert FATES[path] in why(folder, SITE + path, capsys)


def test_an_unknown_url_is_answered_with_the_nearest_known(store: SqliteStore) -> None:
    fate = find_fate(store, f"{SITE}/shorter")
    assert fate.outcome == "unknown"
    assert fate.nearest[0] == f"{SITE}/short"


@pytest.mark.parametrize(
    "spelling",
    ["HTTP://Site.Example:80/x/../more", f"{SITE}/more#part", f"{SITE}/more?", f"{SITE}/more/"],
)
def test_equivalent_spelling_of_a_url_is_found(store: SqliteStore, spelling: str) -> None:
    fate = find_fate(store, spelling)
    assert (fate.url, fate.stage) == (f"{SITE}/more", "sentences")


def test_text_that_is_not_a_url_is_found_verbatim(
    folder: Path, store: SqliteStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find_fate(store, "no url at all").reason == "invalid_url"
    assert main(["why", str(folder), "no url"]) == 2
    assert "URL must be a page's URL, got 'no url'" in capsys.readouterr().err


def test_json_has_the_stages_with_candidates_and_figures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(folder), f"{SITE}/edited", "--json"]) == 0
    account: dict[str, Any] = json.loads(capsys.readouterr().out)
    stages = {stage["stage"]: stage for stage in account["stages"]}
    assert list(stages) == ["body", "text", "sentences", "simhash", "minhash"]
    (candidate,) = stages["simhash"]["candidates"]
    assert candidate["url"] == f"{SITE}/a"
    assert candidate["verdict"]["resemblance"] == account["fates"][0]["resemblance"]
    assert not stages["minhash"]["is_asked"]


def pair(folder: Path, first: str, second: str, *options: str) -> int:
    return main(["pair", str(folder), SITE + first, SITE + second, *options])


def test_distinct_pair_names_stage_and_distance(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pair(folder, "/other", "/a") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "0 of the 3 longest sentences shared: no candidate" in out
    assert "bits, more than 3: no candidate" in out
    assert "0 of 11 bands agree: no candidate" in out
    assert "less than 0.8: not a duplicate." in out
    assert "1. http://site.example/a" in out  # the earlier page first


def test_the_differences_of_a_pair_are_marked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pair(folder, "/a", "/more") == 0
    assert "{+ And so it ended.+}" in capsys.readouterr().out.replace("\n", " ")


def test_the_figures_of_a_pair_are_those_of_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pair(folder, "/a", "/edited", "--json") == 0
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    sets = []
    for path in ("/a", "/edited"):
        words = PAGES[path][0].casefold().replace(".", "").split()
        sets.append({tuple(words[place : place + 3]) for place in range(len(words) - 2)})
    first, second = sets
    assert verdict["common"] == len(first & second)
    assert verdict["only_first"] == len(first - second)
    assert verdict["only_second"] == len(second - first)
    assert verdict["resemblance"] == pytest.approx(len(first & second) / len(first | second))


def test_short_texts_differ_by_their_titles() -> None:
    first, second = (Document(id="", text="Sold out.", title=title) for title in ("Boat", "Car"))
    verdict = decide(first, second, DedupConfig())
    assert not verdict.is_duplicate
    assert "fewer than 50: text and title must be equal; the titles differ" in verdict.words


def test_a_pair_needs_two_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pair(folder, "/a", "/gone") == 2
    assert "which is skipped: ask `dedup why`" in capsys.readouterr().err


def test_the_threshold_is_that_of_the_job(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    path.write_bytes((folder / "crawl.sqlite").read_bytes())
    store = SqliteStore(path)
    settings = {"DEDUP_NEAR_RESEMBLANCE": "0.95", "DEDUP_SIMHASH_DISTANCE": 5}
    store.set_meta("settings", json.dumps(settings))
    config = Replay(store).config
    store.close()
    assert (config.near_resemblance, config.simhash_distance) == (0.95, 5)


@pytest.mark.parametrize("path", ["/other", "/gone"])
def test_nothing_of_a_page_steers_the_terminal(
    folder: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["why", str(folder), SITE + path], ["why", str(folder), SITE + path, "--json"]):
        assert main(command) == 0
        out = capsys.readouterr().out
        assert "[bold red]markup[/]" in " ".join(out.split())  # as text, not as markup
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)


@pytest.fixture
def keyed(tmp_path: Path) -> Path:
    """A job of reviews: those of one product are duplicates, those of two are not."""
    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.check_schemes({"URL": {"rules": []}}, of="URLs")
    detectors = [KeyRecord(), *default_detectors(store.document)]
    deduplicator = Deduplicator(detectors, store=store)
    for path, text, product in (
        ("/1", STORY, "one"),
        ("/2", STORY, "two"),
        ("/2b", STORY, "two"),
        ("/2c", [*STORY, "And so it ended."], "two"),
        ("/2d", [*STORY, "And so it ended."], "three"),
    ):
        url = SITE + path
        key = key_of({"product": product})
        page = Page(id="", text=" ".join(text), url=url, fetched_at=1.7e9, status=200, key=key)
        deduplicator.process(page)
        store.urls.finish([(url_key(canonical_url(url)), url)])
    store.close()
    return tmp_path


def test_why_and_pair_know_the_keys_of_items(
    keyed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore(keyed / "crawl.sqlite", read_only=True)
    assert [store.page(number).key for number in (1, 2, 5)] == [
        f'{{"product": "{product}"}}' for product in ("one", "two", "three")
    ]
    assert [store.dropped_page(number).key for number in (3, 4)] == ['{"product": "two"}'] * 2
    store.close()
    for path in ("/2b", "/2c"):
        main(["why", str(keyed), SITE + path])
        said = " ".join(capsys.readouterr().out.split())
        assert "→ duplicate of page 2" in said
        assert "The crawl decided otherwise" not in said
    main(["why", str(keyed), f"{SITE}/2"])
    said = " ".join(capsys.readouterr().out.split())
    assert "0 stored pages with the same digest of its text and the same fields" in said
    other = (
        f"It has the same text as {SITE}/1 but differs in `product`, so the two are not compared."
    )
    assert other in said
    assert "→ duplicate" not in said
    main(["pair", str(keyed), f"{SITE}/1", f"{SITE}/2"])
    said = " ".join(capsys.readouterr().out.split())
    assert "the texts are the same, but their fields differ: no candidate" in said
    assert "they differ in `product`, which must also be equal" in said
    assert "not a duplicate" in said
    main(["pair", str(keyed), f"{SITE}/2", f"{SITE}/2c"])
    assert "a duplicate." in capsys.readouterr().out
