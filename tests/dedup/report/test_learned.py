"""What is told of learned URL rules, in the same words everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dedup.cli import main
from dedup.report.learned import learned_rules
from dedup.report.page import render
from dedup.store import Page, open_store
from dedup.store.records import LEARNED_RANK
from dedup.urls import url_key
from dedup.urls.learning import HostRule
from dedup.urls.learning.telling import LEARNED_RULE, skip_detail

HOST = "a.example"
HOSTILE = "http://a.example/<script>?ref=\x1b[31m"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    with open_store(folder) as store:
        trusted = HostRule(0, HOST, "drop:ref", "trusted", pairs=40, probes=29, audits=7)
        trusted.deferred, trusted.sample_rate = 90, 0.24
        trusted.examples = [(HOSTILE, f"http://{HOST}/")]
        ended = HostRule(0, HOST, "slash", "probation", pairs=12)
        ended.note_failure((f"http://{HOST}/x/", f"http://{HOST}/x"))
        store.url_knowledge.put_rules([trusted, ended, HostRule(0, HOST, "index", pairs=1)])
        for name in ("waits", "left"):
            url = f"http://{HOST}/{name}?ref=1"
            rank = LEARNED_RANK + trusted.number
            store.urls.queue(url_key(url), url, 1, slot=HOST, rank=rank)
        page = store.add(Page(id="", url=f"http://{HOST}/left", text="A page."), {})
        store.url_knowledge.add_forms([(url_key(f"http://{HOST}/left"), page)])
        store.add_skipped(url, LEARNED_RULE, detail=skip_detail(trusted), is_fetched=False)
        store.urls.finish([(url_key(url), url)])
    return folder


def test_rules_that_something_speaks_for_are_shown(job: Path) -> None:
    with open_store(job, read_only=True) as store:
        trusted, ended = learned_rules(store)
    assert trusted.name == "drop:ref on a.example"
    assert trusted.says == "the parameter ref changes nothing"
    assert (trusted.saved, trusted.bound) == (1, "at most 1 page of 1 lost, 95%")
    assert trusted.setting == "-s DEDUP_URL_RULES=drop:ref"
    assert (ended.stage, ended.setting, ended.saved, ended.bound) == ("unlearned", "", 0, "")
    assert ended.examples == ((f"http://{HOST}/x/", f"http://{HOST}/x"),)


def test_stats_by_rule(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["stats", str(job), "--by", "rule", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["pairs"], row["against"]) for row in rows] == [
        ("drop:ref on a.example", 40, 0),
        ("slash on a.example", 12, 1),
    ]
    assert rows[0]["bound"] == "at most 1 page of 1 lost, 95%"
    assert main(["stats", str(job), "--by", "rule"]) == 0
    assert "trusted" in capsys.readouterr().out


def test_why_tells_of_a_rule(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(job), f"http://{HOST}/waits?ref=1"]) == 0
    said = capsys.readouterr().out
    assert "put off to the end of the crawl" in said
    assert (
        "by the learned URL rule drop:ref on a.example: the parameter ref changes nothing" in said
    )
    assert main(["why", str(job), f"http://{HOST}/left?ref=1"]) == 0
    said = capsys.readouterr().out
    assert "a learned URL rule calls it a page that is known (learned_rule)" in said
    assert "drop:ref on a.example: at most 10 pages lost, 95%" in said
    assert f"the page is http://{HOST}/left\n" in said
    assert "not fetched: " in said
    assert "left out 20" in said


def test_the_report_shows_rules_and_escapes_their_urls(job: Path) -> None:
    with open_store(job, read_only=True) as store:
        page = render(store, "job", {})
    assert "URL rules that were learned" in page
    assert "the parameter ref changes nothing" in page
    assert "a.example/<script>" not in page
    assert "a.example/&lt;script&gt;" in page


def test_a_query_without_equals_sign_is_a_pattern(tmp_path: Path) -> None:
    from dedup import Deduplicator
    from dedup.url_patterns.patterns import duplicate_patterns

    with open_store(tmp_path) as store:
        deduplicator = Deduplicator(store=store)
        for name in "abc":
            text = " ".join(f"Page {name} has line {line}." for line in range(40))
            for query in ("", f"?org/{name}.html"):
                url = f"http://{HOST}/{name}/index.html{query}"
                deduplicator.process(Page(id="", url=url, text=text))
        (pattern,) = duplicate_patterns(store)
    assert (pattern.kind, pattern.saved, pattern.lost) == ("bare-query", 3, 0)
    assert pattern.setting == "-s DEDUP_URL_RULES=bare-query"
