"""What was measured, as rows of a table and as a picture."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.crawl.contenders import ALL_ON, CONTENT_OFF, CRAWLEE, FETCH_ONLY, PLAIN
from benchmarks.measure import peer

Result = Mapping[str, Any]
"""Of one site: what `compare` gives."""

_FIGURES = (
    ("pages_per_second", "pages/s", 1),
    ("cpu_seconds_per_page", "CPU ms/page", 1e3),
    ("own_cpu_seconds_per_page", "of it, own process", 1e3),
    ("peak_bytes", "peak MB", 1e-6),
)
_RATIOS = (
    ("pages/s, all dedup on / Scrapy, plain", "pages_per_second", PLAIN),
    ("pages/s, all dedup on / Scrapy, fetch only", "pages_per_second", FETCH_ONLY),
    ("pages/s, all dedup on / crawlee", "pages_per_second", CRAWLEE),
    ("CPU s/page, all dedup on / content dedup off", "cpu_seconds_per_page", CONTENT_OFF),
    ("CPU s/page, all dedup on / Scrapy, fetch only", "cpu_seconds_per_page", FETCH_ONLY),
    ("peak memory, all dedup on / Scrapy, plain", "peak_bytes", PLAIN),
)


def rows(result: Result) -> Iterator[dict[str, str]]:
    """One for each contender: median (least-most)."""
    for figures in result["contenders"]:
        if "missing" in figures:
            yield {"crawler": figures["name"], "pages": f"skipped: {figures['missing']}"}
            continue
        spreads = {label: _text(figures[key], factor) for key, label, factor in _FIGURES}
        yield {
            "crawler": figures["name"],
            "pages": f"{figures['pages']:,}",
            "answers": f"{figures['answers']:,}",
            **spreads,
            "whole process, s": _text(figures["process_seconds"], 1),
        }


def ratios(result: Result) -> dict[str, float]:
    """Of medians; without those of a contender that did not run."""
    by_name = {figures["name"]: figures for figures in result["contenders"]}
    ours = by_name.get(ALL_ON, {})
    return {
        label: ours[key]["median"] / by_name[other][key]["median"]
        for label, key, other in _RATIOS
        if key in ours and key in by_name.get(other, {})
    }


def saturation(result: Result) -> float | None:
    """Pages/s at which our crawl's own process is busy all the time; None: it was not measured."""
    ours: Mapping[str, Any] = next(
        (each for each in result["contenders"] if each["name"] == ALL_ON), {}
    )
    spread = ours.get("own_cpu_seconds_per_page", {"median": 0.0})
    return 1 / spread["median"] if spread["median"] else None


def draw(results: Sequence[Result], path: Path) -> None:
    """Bars of the medians with their ranges, a row of them for each site.

    Raises:
        ValueError: matplotlib is not installed, or cannot write files of this ending.
    """
    try:
        matplotlib = peer("matplotlib")
    except ImportError:
        raise ValueError(
            "a picture needs matplotlib: install it with `uv sync --group bench`"
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters, not their outlines: a third of the size
    plots = peer("matplotlib.pyplot")
    figure, grid = plots.subplots(
        len(results),
        len(_FIGURES),
        squeeze=False,
        figsize=(4 + 3 * len(_FIGURES), 0.8 + 1.9 * len(results)),
        layout="constrained",
    )
    for line, result in zip(grid, results, strict=True):
        for axes, (key, label, factor) in zip(line, _FIGURES, strict=True):
            _bars(axes, result, key, factor)
            axes.set_title(f"{result['site']}: {label}", fontsize=9, loc="left")
        for axes in line[1:]:
            axes.tick_params(labelleft=False)
    figure.savefig(path, dpi=120)
    plots.close(figure)


def _bars(axes: Any, result: Result, key: str, factor: float) -> None:
    measured = [figures for figures in result["contenders"] if key in figures]
    names = [figures["name"] for figures in measured]
    medians = [figures[key]["median"] * factor for figures in measured]
    below = [(figures[key]["median"] - figures[key]["least"]) * factor for figures in measured]
    above = [(figures[key]["most"] - figures[key]["median"]) * factor for figures in measured]
    colours = ["#1f6f8b" if name == ALL_ON else "#b9c4c9" for name in names]
    bars = axes.barh(names, medians, xerr=(below, above), color=colours, ecolor="#555555")
    axes.bar_label(bars, [_number(value) for value in medians], padding=4, fontsize=8)
    axes.margins(x=0.18)
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _text(spread: Mapping[str, float], factor: float) -> str:
    median, least, most = (_number(spread[name] * factor) for name in ("median", "least", "most"))
    return f"{median} ({least}-{most})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
