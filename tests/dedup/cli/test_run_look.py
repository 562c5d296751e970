"""`dedup run` over pages: what is around their texts is looked at before one is dropped."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dedup.batch import Batch
from dedup.cli import main
from dedup.collection import portions
from dedup.collection.deciding import Decider
from dedup.document import Document, Match
from dedup.store import STORE_NAME
from dedup.store.sqlite import SqliteStore
from tests.dedup.collection.html_site import DROPPED, HOST, KEPT, poisoned, site
from tests.json_lines import write
from tests.warc_records import HTML, http_response, warc_record


def dropped(source: Path, *options: str) -> dict[str, str]:
    """Which rows are dropped, and for which."""
    out = source.parent / "dropped.jsonl"
    assert main(["run", str(source), "-d", str(out), "--overwrite", *options]) == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    return {row["id"]: row["duplicate_of"] for row in found}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", site())


@pytest.mark.parametrize(
    "options",
    [
        ["--processes", "1"],
        ["--processes", "2"],
        ["--job", "job"],
        ["--stages", "text"],
        ["--within", "part"],
    ],
    ids=" ".join,
)
def test_pages_that_differ_around_their_texts_stay(
    source: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(source.parent)
    write(source, [{**row, "part": 1} for row in site()])
    assert dropped(source, *options) == DROPPED


def test_the_order_of_judging_changes_no_pair(source: Path) -> None:
    write(source, site()[::-1])
    assert dropped(source) == {original: copy for copy, original in DROPPED.items()}
    found = dropped(source, "--keep", "longest")
    assert {frozenset(pair) for pair in found.items()} == {
        frozenset(pair) for pair in DROPPED.items()
    }


def test_what_the_look_needs_is_the_whole_page(source: Path) -> None:
    """Of texts alone, the two stoves are one."""
    rows = [row for row in site() if row["id"].startswith("stove")]
    crumbs = [row["html"].partition("<nav>")[2].partition("</nav>")[0] for row in rows]
    assert crumbs[0] != crumbs[1]
    assert rows[0]["html"].replace(crumbs[0], "") == rows[1]["html"].replace(crumbs[1], "")
    assert dropped(write(source, [*site(), {**rows[0], "id": "again"}]))["again"] == rows[0]["id"]


def test_interrupted_job_resumes_with_same_result(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between the pages that are told apart: the originals come from the store."""
    monkeypatch.setattr(portions, "PORTION_ROWS", 1)
    judged = []

    def stopping(self: Decider, batch: Batch, kinds: Sequence[int]) -> list[Match | None]:
        found: list[Match | None] = decide(self, batch, kinds)
        judged.extend(document.id for document in batch.documents)
        if judged[-1] == KEPT[0]:
            raise OSError("the machine goes down")
        return found

    decide = Decider.decide
    job = source.parent / "job"
    with monkeypatch.context() as patch:
        patch.setattr(Decider, "decide", stopping)
        assert main(["run", str(source), "--job", str(job)]) != 0
    assert judged[-1] == KEPT[0]
    store = SqliteStore(job / STORE_NAME, read_only=True)
    assert 0 < store.decisions.count() <= len(judged)
    store.close()
    assert dropped(source, "--job", str(job)) == DROPPED


@pytest.mark.parametrize("is_job", [False, True], ids=["files", "a job"])
def test_pages_are_looked_at_against_a_base(source: Path, is_job: bool) -> None:
    old = [row for row in site() if row["id"] not in (*DROPPED, KEPT[1], KEPT[3])]
    base = str(write(source.parent / "old.jsonl", old))
    if is_job:
        assert main(["run", base, "--job", f"{base}.job"]) == 0
        base += ".job"
    new = [{**row, "id": f"new {row['id']}"} for row in site()]
    found = dropped(write(source, new), "--against", base)
    stays = {row["id"] for row in new} - set(found)
    assert stays == {f"new {KEPT[1]}", f"new {KEPT[3]}"}
    assert {name: found[f"new {name}"] for name in DROPPED} == DROPPED


def test_archives_are_looked_at(source: Path) -> None:
    pytest.importorskip("warcio", reason="warcio is not installed")
    records = []
    for row in site():
        block = http_response(row["html"].encode(), HTML)
        records.append(gzip.compress(warc_record(row["url"], block, name=row["id"])))
    archive = source.parent / "in.warc.gz"
    archive.write_bytes(b"".join(records))
    found = {copy.strip("<>"): original.strip("<>") for copy, original in dropped(archive).items()}
    assert found == {f"urn:{copy}": f"urn:{original}" for copy, original in DROPPED.items()}


def test_pages_of_an_attacker_do_not_take_the_articles_of_others(source: Path) -> None:
    rows = poisoned()
    job = source.parent / "job"
    found = dropped(write(source, rows), "--job", str(job))
    honest = [row for row in rows if row["id"].startswith("honest")]
    assert not {row["id"] for row in honest} & set(found)
    store = SqliteStore(job / STORE_NAME, read_only=True)
    texts = {document.url: document.text for document in _documents(store)}
    store.close()
    for row in honest:
        article = row["html"].partition("<p>")[2].partition("</p>")[0]
        assert article in texts[row["url"]]


def _documents(store: SqliteStore) -> list[Document]:
    return [store.document(number) for number in store.exports.page_urls()]


def test_texts_without_a_page_have_no_rest(source: Path) -> None:
    """Two equal texts of one host are one, wherever else their pages differ."""
    rows = [
        {"id": number, "url": f"{HOST}/{number}", "text": "A text of five words."}
        for number in (1, 2)
    ]
    assert dropped(write(source, rows)) == {2: 1}
