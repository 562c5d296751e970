import json
import shutil

import pytest

from benchmarks.__main__ import main
from benchmarks.crawl import run, server
from benchmarks.crawl.contenders import ALL_ON, CONTENDERS, FETCH_ONLY, PLAIN, Contender
from benchmarks.crawl.run import Crawl, compare, differences
from benchmarks.crawl.server import Answer, Nginx, find_nginx

pytestmark = pytest.mark.slow

needs_nginx = pytest.mark.skipif(
    not shutil.which("nginx", path="/usr/sbin:/usr/bin"), reason="nginx is not installed"
)


def crawl(*pages, recorded=None):
    return Crawl(frozenset(pages), recorded, len(pages), 1.0, 2.0, 0.5, 0.25, 10**8)


@pytest.fixture
def site(tmp_path):
    """Six pages, the listing of the folder among them; a text, and a link that leads nowhere."""
    folder = tmp_path / "a site"
    folder.mkdir()
    for number in range(5):
        links = f"<a href='{(number + 1) % 5}.html'>on</a> <a href=x.txt>x</a> <a href=gone>x</a>"
        (folder / f"{number}.html").write_text(f"<title>{number}</title><p>Page {number} {links}")
    (folder / "x.txt").write_text("no page")
    return folder


def test_crawlers_with_same_pages_do_not_differ():
    crawls = {"first": crawl("/", "/a", recorded=2), "second": crawl("/a", "/")}
    assert differences(crawls) == []


def test_differences_name_the_crawler_the_number_and_examples():
    many = [f"/{number}" for number in range(7)]
    found = differences({"first": crawl("/", *many), "second": crawl("/", "/own")})
    assert found == [
        "second missed 7 pages that first found: /0, /1, /2, /3, /4, …",
        "first missed 1 pages that second found: /own",
    ]


def test_pages_that_were_fetched_and_not_taken_are_a_difference():
    assert differences({"only": crawl("/", "/a", recorded=1)}) == [
        "only recorded 1 pages, and was given 2"
    ]


def test_a_page_is_an_answer_with_html_and_its_escapes_do_not_matter():
    line = "1795261371.592\t200\ttext/html\t/a%20b%C3%A9?q=1"
    answer = server._answer(line)
    assert answer.is_page
    assert answer.path == "/a bé?q=1"
    assert not Answer(0, 404, "text/html", "/").is_page
    assert not Answer(0, 200, "text/plain", "/").is_page


@needs_nginx
def test_crawls_of_a_small_site(site):
    chosen = [each for each in CONTENDERS if each.name in {PLAIN, FETCH_ONLY, ALL_ON}]
    result = compare(site, 1, chosen)
    assert result["differences"] == []
    assert [figures["pages"] for figures in result["contenders"]] == [6, 6, 6]
    plain, fetch_only, ours = result["contenders"]
    assert plain["answers"] == 9  # the start page once more, the text, and what is not there
    assert fetch_only["answers"] == 7  # what was found: pages and the text
    assert 0 < ours["pages_per_second"]["median"] < 6 / 0.05
    assert ours["cpu_seconds_per_page"]["median"] > 0.01
    own, whole = ours["own_cpu_seconds_per_page"], ours["cpu_seconds_per_page"]
    assert 0 < own["median"] < whole["median"]
    assert ours["peak_bytes"]["median"] > 30e6


@needs_nginx
def test_a_missing_crawler_is_left_out_with_a_reason(site):
    absent = Contender("other", "no_such_module", lambda url: [], lambda folder: None)
    assert compare(site, 1, [absent])["contenders"] == [
        {"name": "other", "missing": "the package no_such_module is not installed"}
    ]


@needs_nginx
def test_failing_crawler_ends_benchmark_with_its_message(site):
    broken = Contender("broken", "json", lambda url: ["sh", "-c", "echo no >&2; exit 3"], len)
    with pytest.raises(ValueError, match="broken failed with status 3: no"):
        compare(site, 1, [broken])


def test_without_nginx_the_package_is_named(site, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(ValueError, match="nginx is not installed: install the package nginx"):
        find_nginx()
    assert main(["crawl", str(site)]) == 2
    assert capsys.readouterr().err.startswith("benchmarks: nginx is not installed")


@needs_nginx
def test_server_says_why_it_does_not_start(site, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_free_port", lambda: 99_999)
    with (
        pytest.raises(ValueError, match=r"nginx did not start: .*invalid port"),
        Nginx(site, tmp_path),
    ):
        pass


@needs_nginx
@pytest.mark.parametrize("name", ['a"b', "a$b"])
def test_folders_invalid_for_nginx(name, tmp_path):
    with pytest.raises(ValueError, match="a site's folder must have no"):
        Nginx(tmp_path / name, tmp_path)


def test_site_must_be_a_folder(tmp_path):
    with pytest.raises(ValueError, match=r"SITE_DIR must be a folder, got .*/none'"):
        compare(tmp_path / "none", 1)


@pytest.fixture
def measured(monkeypatch):
    """Crawls that are made up: ours four times as fast as plain Scrapy; crawlee is missing."""

    def compared(site, rounds):
        crawls = {PLAIN: 40.0, ALL_ON: 10.0}
        figures = [
            {
                "name": name,
                "pages": 100,
                "answers": 120,
                **{
                    key: {"median": value, "least": value, "most": value}
                    for key, value in (
                        ("pages_per_second", 100 / seconds),
                        ("cpu_seconds_per_page", seconds / 100),
                        ("own_cpu_seconds_per_page", seconds / 200),
                        ("peak_bytes", 2e8),
                        ("process_seconds", seconds),
                    )
                },
            }
            for name, seconds in crawls.items()
        ]
        missing = {"name": "crawlee, Parsel", "missing": "the package crawlee is not installed"}
        return {"site": site.name, "contenders": [*figures, missing], "differences": []}

    monkeypatch.setattr("benchmarks.crawl.command.compare", compared)
    monkeypatch.setattr("benchmarks.crawl.command.Nginx.version", lambda: "1")


def test_the_table_has_figures_ratios_and_who_is_missing(measured, capsys):
    assert main(["crawl", "docs", "--rounds", "2"]) == 0
    out = capsys.readouterr().out
    assert "median (least-most) of 2 runs" in out
    assert "CONCURRENT_REQUESTS=16" in out
    assert "2.5 (2.5-2.5)" in out
    assert "400 (400-400)" in out
    assert "pages/s, all dedup on / Scrapy, plain: 4.00" in out
    assert "peak memory, all dedup on / Scrapy, plain: 1.00" in out
    assert "one process of ours is busy all the time at 20 pages/s" in out
    assert "skipped: the package crawlee is not installed" in out


def test_json_has_the_sites_and_what_they_were_measured_on(measured, capsys):
    assert main(["crawl", "docs", "more", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [site["site"] for site in found["sites"]] == ["docs", "more"]
    assert found["sites"][0]["ratios"] == {
        "pages/s, all dedup on / Scrapy, plain": 4.0,
        "peak memory, all dedup on / Scrapy, plain": 1.0,
    }
    assert found["environment"]["rounds"] == 5
    assert found["settings"]["ROBOTSTXT_OBEY"] is False


def test_picture(measured, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "bars.png"
    assert main(["crawl", "docs", "--picture", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_results_of_earlier_runs_are_shown_again(measured, tmp_path, capsys):
    assert main(["crawl", "docs", "--json"]) == 0
    earlier = tmp_path / "earlier.json"
    earlier.write_text(capsys.readouterr().out)
    assert main(["crawl", str(earlier), "more", "--json"]) == 0
    assert [site["site"] for site in json.loads(capsys.readouterr().out)["sites"]] == [
        "docs",
        "more",
    ]


def test_different_pages_fail_the_run(monkeypatch, measured, capsys):
    different = {"site": "docs", "contenders": [], "differences": ["one missed 3 pages"]}
    monkeypatch.setattr("benchmarks.crawl.command.compare", lambda *_: different)
    assert main(["crawl", "docs"]) == 2
    error = capsys.readouterr().err
    assert "did not find the same pages" in error
    assert "docs: one missed 3 pages" in error


def test_a_round_with_differences_is_the_last(site, monkeypatch):
    class Server:
        url = "http://site/"

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    crawls = iter([crawl("/"), crawl("/a")])
    monkeypatch.setattr(run, "Nginx", Server)
    monkeypatch.setattr(run, "run", lambda *_: (next(crawls), [Answer(0, 200, "text/html", "/")]))
    one, two = (Contender(name, "json", lambda url: [], len) for name in ("one", "two"))
    assert len(compare(site, 5, [one, two])["differences"]) == 2


@pytest.mark.parametrize("rounds", ["0", "-1", "many"])
def test_rounds_are_checked(rounds, capsys):
    with pytest.raises(SystemExit):
        main(["crawl", "docs", "--rounds", rounds])
    assert "must be a whole number of at least 1" in capsys.readouterr().err
