"""The README's own blocks, run."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def test_it_is_short_and_says_what_must_be_known() -> None:
    assert len(README.split()) <= 1300
    first_screen = README[: README.index("## Start")]
    assert "does not run JavaScript" in first_screen
    assert "`pip install . && dedup demo`" in first_screen
    for command in (
        "sudo apt install python3-venv",
        "uv run scrapy crawl site -a url=https://",
        "uv run scrapy crawl demo",
        "uv run --group test pytest",
    ):
        assert command in README


def test_figures_of_sites_are_those_of_the_documents() -> None:
    """Each row of the table is the beginning of one in docs/benchmarks.md, which has its site."""
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    sites = (ROOT / "benchmarks" / "sites.tsv").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*(?: \| [\d,]+){5} \|$", README, re.MULTILINE)
    assert len(rows) == 7
    for row in rows:
        (rest,) = re.findall(rf"^{re.escape(row)} (.*)$", benchmarks, re.MULTILINE)
        assert f"\n{rest.split('`')[1]}\t" in sites
        pages, kept, dropped = (int(cell.replace(",", "")) for cell in row.split(" | ")[1:4])
        assert pages == kept + dropped


def test_figures_of_texts_are_those_of_the_documents() -> None:
    detection = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| \d,\d{3} \| ([\d.]+) \| ([\d.]+) \|", detection, re.MULTILINE)
    lowest = [min(column) for column in zip(*rows[:4], strict=True)]
    assert f"precision is {lowest[0]} and recall {lowest[1]} or more on [four" in README
    assert "127 of 130" in detection
    assert "91 of 97" in detection


def test_figures_of_speed_are_those_of_the_documents() -> None:
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    table = {
        name: [float(cell) for cell in cells.split(" | ")]
        for name, cells in re.findall(r"^\| (\D+?) \| ([\d. |]+) \|$", benchmarks, re.MULTILINE)
    }
    said = re.findall(r"(\d[\d.]*) to (\d[\d.]*)(?= times|%)", README)
    assert [(float(low), float(high)) for low, high in said] == [
        _bounds(table["pages/s, all dedup on / plain"]),
        _bounds(table["pages/s, all dedup on / crawlee"]),
        _bounds(table["peak memory, all dedup on / plain"]),
        _bounds([100 * (ratio - 1) for ratio in table["CPU per page, all dedup on / off"]], 0),
    ]


def _bounds(values: list[float], digits: int = 1) -> tuple[float, float]:
    return round(min(values), digits), round(max(values), digits)
