"""The README's own blocks, run."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from dedup.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_library_example_prints_what_the_readme_says() -> None:
    example = next(block for block in blocks("python") if "Deduplicator" in block)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "README.md", "exec"), {})
    assert printed.getvalue() == next(
        block for block in blocks("text") if block.startswith("again")
    )


def test_addon_line_is_the_addon() -> None:
    from dedup.scrapy import DedupAddon

    names: dict[str, dict[str, int]] = {}
    exec(blocks("python")[0], names)
    assert list(names["ADDONS"]) == [f"dedup.scrapy.{DedupAddon.__name__}"]


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"(?:`|\$ |uv run )dedup (\w+)", README)))
)
def test_every_command_named_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert f"dedup {command}" in capsys.readouterr().out


def test_options_named_of_a_crawl_exist(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["crawl", "--help"])
    known = capsys.readouterr().out
    rows = [line for line in README.splitlines() if "`dedup crawl " in line]
    named = {option for row in rows for option in re.findall(r"--[a-z-]+", row)}
    assert len(named) > 6
    assert [option for option in named if option not in known] == []


def test_every_setting_named_exists() -> None:
    from dedup.scrapy import default_settings

    names = set(re.findall(r"`(DEDUP_[A-Z_]+)`", README))
    assert names
    assert names <= set(vars(default_settings))
