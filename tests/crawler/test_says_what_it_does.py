"""Settings, arguments and exit codes do what they say, or it is said that they do not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import BaseSettings

from dedup.cli import main
from dedup.extras import require_extra
from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig, removed_settings, unknown_settings
from dedup.scrapy.removed_settings import REMOVED_SETTINGS
from dedup.terminal.summary_table import summary_table

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

ROOT = Path(__file__).parents[2]


def _settings(**changed: object) -> BaseSettings:
    settings = BaseSettings()
    settings.setmodule(default_settings)
    settings.update(changed)
    return settings


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("DEDUP_NEAR_RESEMBLENCE", "; did you mean DEDUP_NEAR_RESEMBLANCE?"),
        ("DEDUP_URL_RULE", "; did you mean DEDUP_URL_RULES?"),
        ("DEDUP_XQZ", ""),
    ],
)
def test_unknown_setting_names_the_nearest(name: str, meant: str) -> None:
    assert unknown_settings(_settings(**{name: 1})) == [f"unknown setting {name}{meant}"]


def test_every_setting_is_known() -> None:
    assert unknown_settings(_settings()) == []


def test_removed_settings_are_named_with_what_to_do() -> None:
    settings = _settings(**dict.fromkeys(REMOVED_SETTINGS, 1))
    assert removed_settings(settings) == [
        f"{name} no longer has any effect: {REMOVED_SETTINGS[name]}"
        for name in sorted(REMOVED_SETTINGS)
    ]
    assert unknown_settings(settings) == []
    assert removed_settings(_settings()) == []
    assert not [name for name in REMOVED_SETTINGS if hasattr(default_settings, name)]


def test_a_crawl_with_a_removed_setting_warns_once_and_starts(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start")
    crawled = crawl("site", "-s", "DEDUP_URL_LEARNING=skip", url=site.url)
    assert crawled.status == 0, crawled.output
    assert crawled.output.count("DEDUP_URL_LEARNING no longer has any effect: ") == 1
    assert crawled.rows("SELECT count(*) FROM pages") == [1]


def test_a_missing_extra_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'scrapy-dedup\[x\]'"):
        require_extra("no_such_module", extra="x", purpose="this")


def test_missing_extractor_refuses_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = _settings(DEDUP_TEXT_EXTRACTOR="trafilatura")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "trafilatura", None)
        with pytest.raises(ValueError, match="EXTRACTOR=trafilatura needs a package that is not"):
            CrawlConfig.from_settings(settings)
    monkeypatch.delitem(sys.modules, "trafilatura", raising=False)
    (tmp_path / "trafilatura.py").write_text("raise ImportError('install lxml_html_clean')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ValueError, match=r"is not complete \(install lxml_html_clean\); install it"
    ):
        CrawlConfig.from_settings(settings)


def test_library_needs_no_unix_module() -> None:
    script = (
        "import sys\n"
        "sys.modules['fcntl'] = sys.modules['resource'] = None\n"
        "import dedup, dedup.store, dedup.cli, dedup.scrapy.config\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("dedup 0.")


def test_crawl_stopped_at_max_pages_resumes_with_more(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {"/": make.page("start", "/a"), "/a": make.page("a", "/b"), "/b": make.page("b")}
    crawled = crawl("site", url=site.url, max_pages=1)
    assert crawled.status == 0
    assert "max_pages; rerun with a higher max_pages, or without it" in crawled.output
    # Limits may change; where it crawls, and what its verdicts mean, may not.
    refused = crawl("site", url=f"{site.url}a")
    assert refused.status == 2
    assert f"spider argument url '{site.url}', now '{site.url}a'" in refused.output
    refused = crawl("site", "-s", "DEDUP_NEAR_RESEMBLANCE=0.7", url=site.url)
    assert refused.status == 2
    assert "setting DEDUP_NEAR_RESEMBLANCE 0.8, now 0.7" in refused.output
    again = crawl("site", url=site.url, max_pages=9)
    assert again.status == 0
    assert again.stats["pages"]["unique"] == 3
    (again.folder / "kept.jsonl").write_text("kept")
    kept = str(again.folder / "kept.jsonl")
    assert main(["export", str(again.folder), "--stage", "foo", "-d", kept]) == 2
    assert Path(kept).read_text() == "kept"


def test_crawl_without_pages_ends_with_status_1(crawl: Crawler, site: WebSite) -> None:
    crawled = crawl("sitemap", url=site.url)
    assert crawled.status == 1
    assert "no pages were found" in crawled.output


def test_unwritable_feed_ends_with_status_1(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start")
    crawled = crawl("site", "-o", "/dev/null/feed.jsonl", url=site.url)
    assert crawled.status == 1


def test_unwritable_report_ends_with_status_1(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes["/"] = make.page("start")
    crawled = crawl("site", "-s", "DEDUP_REPORT_FILE=/dev/null/report.html", url=site.url)
    assert crawled.status == 1
    assert "the report of" in crawled.output


def test_a_misspelt_setting_is_refused(crawl: Crawler) -> None:
    crawled = crawl("site", "-s", "DEDUP_NEAR_NAME=ignore", url="http://127.0.0.1:9/")
    assert crawled.status == 2
    assert crawled.output.endswith(
        "unknown setting DEDUP_NEAR_NAME; did you mean DEDUP_NEAR_NAMES?\n"
    )


def test_ctrl_c_on_a_piped_crawl_ends_it(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    """`scrapy crawl … 2>&1 | tee log`: Ctrl-C ends `tee` first."""
    for number in range(2_000):
        site.routes[f"/{number}"] = make.page(
            f"{number}", f"/{number * 2 + 1}", f"/{number * 2 + 2}"
        )
    site.routes["/"] = make.page("start", "/0")
    crawling = crawl.start(
        "site", "-s", "DEDUP_READ_PROCESSES=1", "-s", "LOG_LEVEL=INFO", url=site.url
    )
    until = time.monotonic() + 120
    while len(site.asked) < 100 and time.monotonic() < until:
        time.sleep(0.05)
    assert crawling.process.stdout is not None
    crawling.process.stdout.close()
    crawling.process.send_signal(signal.SIGINT)
    try:
        crawling.process.wait(60)
    finally:
        crawling.process.kill()
    site.routes = {target: route for target, route in site.routes.items() if len(target) < 3}
    again = crawl("site", url=site.url)
    assert again.status == 0, again.output
    assert "resumes after" in again.output


def test_hints_name_the_command_as_it_is_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    account = {"pages": {**_NONE, "unique": 1}, "bytes": _NONE, "failed": {}}
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    assert "uv run" not in _shown(account, tmp_path)
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    assert f"uv run dedup export {tmp_path}" in _shown(account, tmp_path)


def test_pages_that_come_again_by_themselves_need_no_retry(tmp_path: Path) -> None:
    rendering = {
        "rendered": {"shell": 40, "first": 2}, "raw": {"static": 7}, "failed": {"timeout": 3},
        "later": {"crashed": 1}, "compared": 2, "seconds": 9.0,
    }  # fmt: skip
    account = {"pages": _NONE, "bytes": _NONE, "failed": {}, "rendering": rendering}
    shown = _shown(account, tmp_path)
    assert "rendered: 42 pages, 2 read both ways," in shown
    assert "could not be rendered: timeout 3; dedup retry has them rendered again" in shown
    assert "could not be rendered: crashed 1; they come again when the crawl goes on" in shown


_NONE = {"fetched": 0, "unique": 0, "duplicates": {}, "skipped": {}}


def _shown(account: dict[str, object], folder: Path) -> str:
    from rich.console import Console

    console = Console(width=400)
    with console.capture() as capture:
        console.print(summary_table(account, folder))
    return capture.get()
