"""A job's counts by host, stage or URL pattern, and the comparison of two jobs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dedup.store import JobStore, summarise
from dedup.terminal.plain import plain
from dedup.terminal.summary_table import parts_of
from dedup.url_patterns.suggestions import duplicate_patterns

Row = Mapping[str, Any]

_SHOWN_ROWS = 30


def account_rows(account: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a job's account: fetched, unique, duplicates by stage, and so on."""
    rows = list(parts_of(account))
    rows += [(f"not fetched: {name}", count, 0) for name, count in account["failed"].items()]
    if kept := account.get("kept_apart"):
        rows.append(("kept by the second look", kept, 0))
    if count := account.get("needs_rendering"):
        rows.append(("needs rendering", count, 0))
    if waiting := account["pages"].get("waiting"):
        rows.append(("waiting", waiting, account["bytes"]["waiting"]))
    rows += [(f"URLs {name}", account["urls"][name], 0) for name in ("seen", "queued")]
    return [{"name": name, "pages": pages, "bytes": size} for name, pages, size in rows]


def compare_rows(first: Sequence[Row], second: Sequence[Row], column: str) -> list[dict[str, Any]]:
    """Join the rows of two jobs by name, in the order of the first job."""
    before, after = ({row["name"]: row[column] for row in rows} for rows in (first, second))
    names = dict.fromkeys([*before, *after])
    counts = ((name, before.get(name, 0), after.get(name, 0)) for name in names)
    return [{"name": name, "first": a, "second": b, "change": b - a} for name, a, b in counts]


def rows_table(rows: Sequence[Row], *, headings: Mapping[str, str] | None = None) -> RenderableType:
    """The first 30 rows as a table, with bytes as MB. Names are untrusted text."""
    headings = headings or {}
    columns = list(rows[0]) if rows else ["name"]
    if not any(row.get("waiting") for row in rows):  # true of every finished job
        columns = [name for name in columns if name != "waiting"]
    table = Table(box=None, pad_edge=False)
    for name in columns:
        heading = "MB" if name == "bytes" else headings.get(name, name.replace("_", " "))
        is_text = bool(rows) and any(isinstance(row[name], str) for row in rows)
        table.add_column(
            "" if name == "name" else Text(plain(heading)),
            justify="left" if is_text else "right",
            overflow="fold",
        )
    for row in rows[:_SHOWN_ROWS]:
        table.add_row(*(Text(_cell(name, row[name])) for name in columns))
    if not rows:
        return Text("nothing")
    rest = len(rows) - _SHOWN_ROWS
    return Group(table, Text(f"… and {rest:,} more: --json")) if rest > 0 else table


def _cell(column: str, value: Any) -> str:
    if value is None:
        return "–"
    if column == "bytes":
        return f"{value / 1e6:,.2f}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if column == "change":
        return f"{value:+,}" if value else "0"
    return f"{value:,}" if isinstance(value, int) else plain(value)


def _by_host(store: JobStore) -> list[dict[str, Any]]:
    rows = []
    for host in summarise(store)["hosts"]:
        name, size_bytes = host.pop("host"), host.pop("bytes")
        fetched = sum(host.values())
        shares = {"duplicate_share": host["duplicates"] / fetched, "bytes": size_bytes}
        rows.append({"name": name, "fetched": fetched, **host, **shares})
    return rows


def _by_pattern(store: JobStore) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{pattern.kind} {pattern.detail}".strip(),
            "duplicates": pattern.duplicates,
            "bytes": pattern.size_bytes,
            "saved": pattern.saved,
            "lost": pattern.lost,
            "setting": pattern.setting,
        }
        for pattern in duplicate_patterns(store)
    ]


BY: Mapping[str, Callable[[JobStore], list[dict[str, Any]]]] = {
    "host": _by_host,
    "stage": lambda store: store.report.stages(),
    "pattern": _by_pattern,
}
"""Functions that return a row for each host (of the 1,000 with most pages), stage or pattern."""
