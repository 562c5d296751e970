"""README.md, CONTRIBUTING.md and docs/: their links, commands and names are right."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from dedup.cli import COMMANDS, _parser
from dedup.fields.registry import FIELDS
from dedup.scrapy import default_settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """Arguments of each `dedup` in its console blocks."""
    found = []
    for language, block in _BLOCK.findall(text):
        lines = block.replace("\\\n", " ").splitlines() if language == "console" else []
        for line in lines:
            words = re.search(r"^\$ (?:.*\| )?(?:uv run )?(?:--\S+ \S+ )*dedup (.*)", line)
            if words:
                found.append(shlex.split(re.split(r" [|>] ?| >> ", words[1])[0], comments=True))
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_each_link_leads_somewhere(name: str) -> None:
    text = _BLOCK.sub("", TEXTS[name])
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        linked = (ROOT / name).parent / path if path else ROOT / name
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """Names of the headings, as repositories and the site make them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", TEXTS)
def test_each_command_is_understood(name: str) -> None:
    for arguments in commands(TEXTS[name]):
        _parser(arguments).parse_args(arguments)  # ends the test if it is not


def test_commands_are_found() -> None:
    assert len([each for text in TEXTS.values() for each in commands(text)]) > 60
    assert {each[0] for text in TEXTS.values() for each in commands(text)} >= {"crawl", "why"}


@pytest.mark.parametrize("name", TEXTS)
def test_each_setting_named_exists(name: str) -> None:
    names = set(re.findall(r"`(DEDUP_[A-Z_]+[A-Z])\b", TEXTS[name]))
    assert names <= set(vars(default_settings))


def test_options_named_of_a_crawl_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        _parser(["crawl", "--help"]).parse_args(["crawl", "--help"])
    known = capsys.readouterr().out
    rows = [line for line in TEXTS["docs/commands.md"].splitlines() if "`dedup crawl " in line]
    named = {option for row in rows for option in re.findall(r"--[a-z-]+", row)}
    assert len(named) > 6
    assert [option for option in named if option not in known] == []


def test_each_command_is_in_the_list() -> None:
    rows = re.findall(r"^\| `dedup (\w+)", TEXTS["docs/commands.md"], re.MULTILINE)
    assert set(rows) == set(COMMANDS)


@pytest.fixture(scope="module")
def generated() -> ModuleType:
    path = ROOT / ".ci" / "site_pages.py"
    spec = importlib.util.spec_from_file_location("site_pages", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_of_settings_has_each_with_its_default(generated: ModuleType) -> None:
    written = generated.on_page_markdown("<!-- generated: settings -->")
    for name, value in vars(default_settings).items():
        if name.startswith("DEDUP_"):
            assert name in written
            shown = re.search(rf"#### {name}\n\nDefault: `(.*)`", written)
            assert shown is None or eval(shown[1]) == value
    assert written.count("#### DEDUP_") >= 40
    assert "### Output" in written


def test_the_reference_of_commands_has_each_option(generated: ModuleType) -> None:
    written = generated.on_page_markdown("<!-- generated: commands -->")
    for command in COMMANDS:
        assert f"### {command}\n\n```text\nusage: dedup {command} [-h]" in written
    assert "--pieces-since TIME|FILE" in written


def test_the_references_of_fields_and_names_are_complete(generated: ModuleType) -> None:
    written = generated.on_page_markdown("<!-- generated: fields -->")
    assert re.findall(r"^\| `(\w+)`", written, re.MULTILINE) == list(FIELDS)
    names = generated.on_page_markdown("<!-- generated: python -->")
    assert "deduplicate(table: T,\n    *,\n    text: str='text'," in names
    assert "- `id`: the column with the row id." in names
    assert "0x" not in names  # an object's address


def test_links_out_of_the_site_become_text(generated: ModuleType) -> None:
    linked = "See [`a.py`](../dedup/a.py) and [how](how.md#names)."
    assert generated.on_page_markdown(linked) == "See `a.py` and [how](how.md#names)."


def test_pictures_of_the_report_are_modest() -> None:
    for name in ("report.png", "pair.png"):
        data = (ROOT / "docs" / "images" / name).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(data[16:20]) == 1160
        assert len(data) < 200_000
    assert "(docs/images/report.png)" in TEXTS["README.md"]
