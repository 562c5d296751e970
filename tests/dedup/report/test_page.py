import base64
import gzip
import json
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from dedup.cli import main
from dedup.errors import StateError
from dedup.report.page import write_report
from dedup.store import SqliteStore


@pytest.fixture(scope="module")
def text(job: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_report(job, tmp_path_factory.mktemp("report") / "report.html")
    return path.read_text(encoding="utf-8")


def test_pages_that_carry_markup_add_none(text):
    tree = LexborHTMLParser(text)
    assert len(tree.css("script")) == 3
    assert not tree.css("img, svg, iframe, object, embed, base, form, link")
    attributes = {name for node in tree.css("*") for name in node.attributes}
    assert not [name for name in attributes if name.startswith("on")]
    assert tree.css_first("title").text() == "job<b>& – duplicates"


def test_links_are_web_pages_without_referrer(text):
    links = [node.attributes for node in LexborHTMLParser(text).css("a")]
    outside = [link for link in links if not link["href"].startswith("#")]
    assert outside
    assert all(link["href"].startswith(("http://", "https://")) for link in outside)
    assert {link["rel"] for link in outside} == {"noreferrer noopener"}


def test_policy_names_the_digests_of_what_is_in_the_file(text):
    tree = LexborHTMLParser(text)
    policy = tree.css_first("meta[http-equiv=Content-Security-Policy]").attributes["content"]
    inline = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", text, re.DOTALL)
    digests = {
        f"sha256-{base64.b64encode(sha256(part.encode()).digest()).decode()}" for part in inline
    }
    assert set(re.findall(r"'(sha256-[^']*)'", policy)) == digests
    assert policy.startswith("default-src 'none';")


def test_data_block_is_safe_in_html(text):
    block = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert block
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", block[1])
    data = json.loads(gzip.decompress(base64.b64decode(block[1])))
    assert "</script><script>window.pwned = 1</script>" in str(data["groups"])


def test_nothing_in_the_file_is_loaded_from_elsewhere(text):
    assert not LexborHTMLParser(text).css("[src], [srcset], [poster], [background]")
    assert "@import" not in text
    assert "sourceMappingURL" not in text


def test_the_first_screen_needs_no_script(text):
    body = LexborHTMLParser(text).css_first(".overview").text()
    for words in ("Dropped as duplicates", "sentences", "Every page is accounted for."):
        assert words in body


def test_the_same_job_gives_the_same_file(job, text, tmp_path):
    assert write_report(job, tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_command_writes_into_the_job_and_says_where(job, tmp_path, capsys):
    shutil.copy(job / "crawl.sqlite", tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    assert f"{tmp_path / 'report.html'} (0." in capsys.readouterr().err
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").exists()


def test_thresholds_are_those_of_the_job(job, tmp_path):
    shutil.copy(job / "crawl.sqlite", tmp_path)
    settings = {"DEDUP_NEAR_RESEMBLANCE": 0.75, "DEDUP_SIMHASH_DISTANCE": 3}
    (tmp_path / "stats.json").write_text(json.dumps({"settings": settings}))
    assert "(threshold 0.75)" in write_report(tmp_path).read_text(encoding="utf-8")


def test_damaged_counts_are_a_clear_error(job, tmp_path):
    shutil.copy(job / "crawl.sqlite", tmp_path)
    (tmp_path / "stats.json").write_text("{")
    with pytest.raises(StateError, match=r"stats\.json: expected JSON"):
        write_report(tmp_path)


def test_a_job_without_pages_has_a_report(tmp_path):
    SqliteStore(tmp_path / "crawl.sqlite").close()
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "No pages were dropped." in text
    assert "There are no duplicates." in text


def test_a_missing_job_is_one_sentence(tmp_path, capsys):
    assert main(["report", str(tmp_path / "nothing")]) == 2
    assert "job not found" in capsys.readouterr().err
