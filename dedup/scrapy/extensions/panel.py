"""Formats the numbers of a running crawl: a panel for a terminal, and a line for a log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dedup.scrapy.extensions.figures import Snapshot
from dedup.terminal.plain import plain

_MIN_WIDE_COLUMNS = 100
"""Width of the terminal from which hosts and memory are shown side by side."""

_MIN_RATE = 1e-12
"""Smaller estimates come from an almost empty filter, and have no meaning."""

_LINES_WITHOUT_DUPLICATES = 20


def panel(snapshot: Snapshot, *, width: int, height: int) -> RenderableType:
    """The numbers at one moment, in a frame of at most `width` columns and `height` lines.

    URLs come from other sites: control characters are removed, and long ones are shortened.
    """
    inner = width - 4
    room = max(min((height - _LINES_WITHOUT_DUPLICATES) // 2, len(snapshot.last)), 0)
    parts = [_rates(snapshot), Text(), _bars(snapshot)]
    if room:
        parts += [Text("\nlast duplicates", "bold"), *_last(snapshot, room, inner)]
    if height >= _LINES_WITHOUT_DUPLICATES:
        parts += [Text(), _hosts_and_memory(snapshot, inner)]
    return Panel(
        Group(*parts),
        title=Text(shortened(_title(snapshot), inner - 12)),
        title_align="left",
        subtitle=Text(str(timedelta(seconds=int(snapshot.seconds)))),
        subtitle_align="right",
        width=width,
        border_style="dim",
    )


def _title(snapshot: Snapshot) -> str:
    return f"{snapshot.name}, worker {snapshot.worker}" if snapshot.worker else snapshot.job


def line(snapshot: Snapshot) -> str:
    """The numbers at one moment, in one line."""
    counts = {
        "fetched": snapshot.fetched,
        "unique": snapshot.unique,
        "duplicates": sum(snapshot.duplicates.values()),
        "skipped": sum(snapshot.skipped.values()),
        "waiting": snapshot.waiting,
        "URLs filtered": snapshot.filtered,
        "queued": snapshot.queued,
    }
    parts = [f"{count:,} {name}" for name, count in counts.items()]
    rates = f"{snapshot.pages_per_second:,.1f} pages/s, {snapshot.megabytes_per_second:,.2f} MB/s"
    return ", ".join([*parts, rates])


def shortened(text: str, width: int) -> str:
    """The text without control characters, and without its middle if it is too long.

    >>> shortened("example.com/a/long/page.html", 16)
    'examp…/page.html'
    """
    text = plain(text)
    if len(text) <= width:
        return text
    head = max(width // 3, 0)
    return text[:head] + "…" + text[len(text) - max(width - head - 1, 0) :]


def _rates(snapshot: Snapshot) -> RenderableType:
    figures = {
        "pages": f"{snapshot.fetched:,}",
        "pages/s": f"{snapshot.pages_per_second:,.1f}",
        "MB/s": f"{snapshot.megabytes_per_second:,.2f}",
        "queued": f"{snapshot.queued:,}",
        "links filtered": f"{snapshot.filtered:,}",
    }
    if snapshot.rendered:
        figures["rendered"] = f"{snapshot.rendered:,}"
    parts = (Text.assemble((value, "bold"), f" {name}") for name, value in figures.items())
    return Columns(parts, padding=(0, 3))


def _bars(snapshot: Snapshot) -> RenderableType:
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    for name, count, style in _outcomes(snapshot):
        share = count / max(snapshot.fetched, 1)
        bar = ProgressBar(total=max(snapshot.fetched, 1), completed=count, complete_style=style)
        bar.finished_style = style
        grid.add_row(Text(plain(name)), bar, f"{count:,}", f"{share:.1%}")
    return grid


def _outcomes(snapshot: Snapshot) -> Iterator[tuple[str, int, str]]:
    yield "unique", snapshot.unique, "green"
    for stage, count in snapshot.duplicates.items():
        yield f"duplicates: {stage}", count, "yellow"
    yield "skipped", sum(snapshot.skipped.values()), "bright_black"
    if snapshot.waiting:
        yield "waiting to be read", snapshot.waiting, "cyan"


def _last(snapshot: Snapshot, room: int, width: int) -> Iterator[Text]:
    for dropped in snapshot.last[:room]:
        likeness = "" if dropped.resemblance is None else f" {dropped.resemblance:.3f}"
        url, original_url = dropped.url, dropped.original_url
        if len(snapshot.hosts) <= 1:
            url, original_url = _without_host(url), _without_host(original_url)
        how = plain(dropped.stage) + likeness
        yield Text(f"{how:<15} {shortened(url, width - 16)}", no_wrap=True)
        yield Text(f"{'':<13}of {shortened(original_url, width - 16)}", "dim", no_wrap=True)


def _without_host(url: str) -> str:
    """The path and the query of a URL."""
    try:
        return urlsplit(url)._replace(scheme="", netloc="").geturl() or url
    except ValueError:
        return url


def _hosts_and_memory(snapshot: Snapshot, width: int) -> RenderableType:
    hosts, memory = _hosts(snapshot, width), _memory(snapshot)
    if width + 4 < _MIN_WIDE_COLUMNS:
        return Group(hosts, Text(), memory)
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(hosts, memory)
    return grid


def _hosts(snapshot: Snapshot, width: int) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text("busiest hosts", "bold"), Text("responses", "bold"))
    grid.columns[1].justify = "right"
    for host, count in snapshot.hosts:
        grid.add_row(Text(shortened(host, width // 2 - 10)), f"{count:,}")
    return grid


def _rate(rate: float) -> str:
    return f"{rate:.1e}" if rate >= _MIN_RATE else f"below {_MIN_RATE:.0e}"


def _memory(snapshot: Snapshot) -> RenderableType:
    each = (
        f", {snapshot.index_bytes / snapshot.unique:,.0f} bytes a page" if snapshot.unique else ""
    )
    return Text.assemble(
        ("memory\n", "bold"),
        f"index  {snapshot.index_bytes / 1e6:,.1f} MB{each}\n",
        f"URLs   {snapshot.filter_bytes / 1e6:,.1f} MB, {snapshot.seen:,} seen\n",
        f"Bloom filter's error estimate {_rate(snapshot.error_rate)}",
        no_wrap=True,
    )
