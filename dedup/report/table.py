"""A job's account as a table on the terminal."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dedup.report.plain import plain


def summary_table(account: Mapping[str, Any], folder: Path) -> RenderableType:
    """Pages and bytes: fetched = unique + duplicates by stage + skipped by reason.

    `account` is what `stats.json` holds, or the part of it that `summarise` gives.
    """
    table = Table("", "pages", "MB", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, pages, size_bytes in _rows(account["pages"], account["bytes"]):
        table.add_row(Text(plain(name)), f"{pages:,}", f"{size_bytes / 1e6:,.2f}")
    return Group(table, Text("\n".join(_lines(account, folder))))


def _rows(pages: Mapping[str, Any], sizes: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    yield "fetched", pages["fetched"], sizes["fetched"]
    yield "  unique", pages["unique"], sizes["unique"]
    for stage, count in pages["duplicates"].items():
        yield f"  duplicates: {stage}", count, sizes["duplicates"][stage]
    for reason, count in pages["skipped"].items():
        yield f"  skipped: {reason}", count, sizes["skipped"][reason]


def _lines(account: Mapping[str, Any], folder: Path) -> Iterator[str]:
    if account["failed"]:
        reasons = ", ".join(f"{plain(name)} {count:,}" for name, count in account["failed"].items())
        yield f"not fetched: {reasons}"
    if unreachable := account["failed"].get("host_unreachable"):
        yield (
            f"{unreachable:,} URLs are left of hosts that went away;"
            f" uv run dedup retry {folder} queues them again"
        )
    urls = account["urls"]
    yield (
        f"URLs: {urls['seen']:,} seen, {urls['filtered']:,} links to seen URLs filtered,"
        f" {urls['aliases']:,} aliases, {urls['queued']:,} still queued"
    )
    if refresh := account.get("refresh"):
        found = [f"{count:,} {name}" for name, count in refresh.items() if name != "number"]
        yield f"refresh {refresh['number']}: {', '.join(found) or 'nothing visited yet'}"
    if "rates" in account:
        rates = account["rates"]
        yield f"{rates['pages_per_second']:,.1f} pages/s in {rates['seconds']:,.1f} s"
    if "reason" in account and account["reason"] != "finished":
        yield f"stopped: {account['reason']}; the same command goes on from here"
    if (report := folder / "report.html").exists():
        yield f"report: {report}"
    yield f"job: {folder}  (pages and duplicates: uv run dedup export {folder})"
