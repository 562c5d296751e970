"""Real crawls of a tiny site, on which the verdict is known."""

import json
import re
from functools import partial

import pytest

from benchmarks.__main__ import main
from benchmarks.sites import catalogue
from benchmarks.sites.catalogue import Site
from benchmarks.sites.command import measure_site
from benchmarks.sites.crawl import crawl, listed

pytestmark = pytest.mark.slow

PROSE = {
    name: " ".join(f"{name}{number} says something of its own." for number in range(30))
    for name in ("alpha", "beta", "gamma")
}
CONTENT = "main + .notes"
NOTES = " ".join(f"note{number}" for number in range(400))


def page(title, text, notes=""):
    links = " ".join(f'<a href="{name}">{name}</a>' for name in ("one", "copy", "two", "three"))
    return (
        f"<!DOCTYPE html><html lang=en><title>{title}</title><nav>{links}</nav>"
        f"<main><h1>{title}</h1><p>{text}</p></main><canvas class=notes>{notes}</canvas></html>"
    )


@pytest.fixture
def folder(tmp_path):
    """One page twice, and two that differ in nothing but their notes.

    The notes stand in a `<canvas>`, whose words no browser shows and the crawler does not read. A
    judge who is told that they are content has to find that the two are not one page.
    """
    root = tmp_path / "tiny"
    root.mkdir()
    for name, html in {
        "index": page("Start", PROSE["gamma"]),
        "one": page("One", PROSE["alpha"]),
        "copy": page("One", PROSE["alpha"]),
        "two": page("Two", PROSE["beta"]),
        "three": page("Two", PROSE["beta"], NOTES),
    }.items():
        (root / f"{name}.html").write_text(html)
    return root


def judged(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_wrong_drop_is_found(folder, capsys):
    found = judged(capsys, "site", folder, "--select", CONTENT, "--start", "index.html")
    (figures,) = found["sites"]
    assert figures["site"] == "tiny"
    assert (figures["kept"], figures["dropped"], figures["judged"]) == (3, 2, 2)
    assert (figures["wrong"], figures["far"], figures["lost"], figures["twins"]) == (1, 1, 1, 0)
    assert figures["by_stage"] == {"text wrong": 1, "text far": 1, "text lost": 1}
    assert (figures["copies_dropped"], figures["missed"]) == (1.0, 0)
    assert figures["without_container"] == 0
    assert figures["crawl_seconds"] > 0
    assert figures["cpu_ms_a_page"] > 0
    assert "scrapy" in found["environment"]["versions"]


def test_furniture_does_not_make_a_page_another(folder, capsys):
    found = judged(capsys, "site", folder, "--select", CONTENT, "--remove", ".notes")
    (figures,) = found["sites"]
    assert (figures["dropped"], figures["wrong"], figures["recall_mean"]) == (2, 0, 1.0)


def test_a_list_is_crawled_without_following_links(folder, capsys):
    found = judged(capsys, "site", folder, "--select", "main", "--list", "one.html,c*.html")
    (figures,) = found["sites"]
    assert (figures["kept"], figures["dropped"]) == (1, 1)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_seed_gives_an_order(folder, seed):
    site = Site("tiny", folder, "main", lists=["*.html"])
    orders = [listed(site, "http://a/", seed) for _ in range(2)]
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == listed(site, "http://a/", None)
    assert (orders[0] == sorted(orders[0])) == (seed is None)


def test_examples_are_reported(folder, capsys):
    assert main(["site", str(folder), "--select", CONTENT, "--show", "1"]) == 0
    told = capsys.readouterr().out
    lines = [line for line in told.splitlines() if line.startswith(("wrong:", "least recall"))]
    assert lines[0].startswith("wrong: by text, resemblance of contents 0.")
    assert lines[1].startswith("least recall: ")
    assert len(lines) == 2


def test_sites_of_the_catalogue_are_looked_for_by_name(folder, tmp_path, capsys, monkeypatch):
    rows = [
        "site source start list rewrite content furniture",
        "tiny here index.html - - main+.notes .notes",
    ]
    path = tmp_path / "sites.tsv"
    path.write_text("\n".join(row.replace(" ", "\t") for row in rows))
    read = partial(catalogue.read_sites, path=path)
    monkeypatch.setattr("benchmarks.sites.command.read_sites", read)
    assert main(["sites", "tiny", "--folder", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert any(line.split() == ["wrong", "0"] for line in told.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "a["], "select must be CSS selectors, got 'a['"),
        (["--select", "main", "--shuffle", "1"], "a seed shuffles a list: give --list, too"),
        (["--select", "main", "--list", "*.php"], "--list must name files of .*, got *.php"),
        (["--select", "main", "--start", "none.html"], "the crawl of tiny failed"),
        (["--select", "main", "-s", "DEDUP_NEAR_NAMES=perhaps"], "DEDUP_NEAR_NAMES"),
    ],
)
def test_errors_are_reported(folder, capsys, arguments, message):
    assert main(["site", str(folder), *arguments]) == 2
    pattern = re.escape(message).replace(r"\.\*", ".*")
    assert re.search(pattern, capsys.readouterr().err)


def test_a_setting_reaches_the_crawl(folder):
    site = Site("tiny", folder, CONTENT, starts=["index.html"])
    figures, _ = measure_site(site, settings=["DEDUP_TEXT_ENABLED=False"])
    assert "text wrong" not in figures["by_stage"]


@pytest.mark.parametrize(
    "arguments", [["site", "none", "--select", "main"], ["sites", "--folder", "none"]]
)
def test_folders_must_be_there(arguments, capsys):
    assert main(arguments) == 2
    assert "FOLDER must be a folder, got 'none" in capsys.readouterr().err


def test_a_crawl_needs_a_server(folder):
    with pytest.raises(ValueError, match="the crawl of tiny"):
        crawl(Site("tiny", folder, "main"), "http://127.0.0.1:9/")
