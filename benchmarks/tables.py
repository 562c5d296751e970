"""Figures as tables on the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

_LEAST_WIDTH = 170
"""Of a terminal that is narrower, or no terminal: lines are not to be broken within figures."""

_MOST_COLUMNS = 6


def wide_console() -> Console:
    console = Console(highlight=False)
    return Console(highlight=False, width=max(console.width, _LEAST_WIDTH))


def print_environment(
    console: Console, environment: Mapping[str, Any], runs: int | None = None
) -> None:
    facts = [f"{name} {value}" for name, value in environment.items() if name != "versions"]
    console.print(", ".join(facts))
    versions = environment["versions"]
    console.print(", ".join(f"{name} {version}" for name, version in versions.items()))
    if runs is not None:
        console.print(f"Times: median (least-most) of {runs} runs.")


def print_section(console: Console, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """What was measured one beside the other, or one below the other if that is too wide."""
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    texts = [[_text(name, row.get(name)) for name in names] for row in flat]
    labels = [name.removesuffix("_seconds").replace("_", " ") for name in names]
    lines = [labels, *texts]
    if len(rows) <= _MOST_COLUMNS:
        lines = [list(line) for line in zip(*lines, strict=True)]
    table = Table(box=None, pad_edge=False, show_header=False)
    for line in lines:
        table.add_row(*line)
    console.print(f"\n[bold]{title}[/bold]")
    console.print(table)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Groups of figures become figures with longer names; timings stay as they are."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and "median" not in value:
            flat |= {f"{name}: {inner}": figure for inner, figure in value.items()}
        else:
            flat[name] = value
    return flat


def _text(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, Mapping):
        return _timing_text(name, value)
    if isinstance(value, float):
        if name.endswith("_seconds"):
            return f"{value:,.3g} s"
        return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value / 1e6:,.1f} MB" if "bytes" in name else f"{value:,}"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value)


def _timing_text(name: str, timing: Mapping[str, float]) -> str:
    median, least, most = (timing[part] for part in ("median", "least", "most"))
    if "find_" in name:
        return f"{median * 1e6:.3g} µs ({least * 1e6:.3g}-{most * 1e6:.3g})"
    return f"{1 / median:,.0f}/s ({1 / most:,.0f}-{1 / least:,.0f})"
