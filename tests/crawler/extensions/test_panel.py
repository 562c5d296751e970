"""The panel and the line: every number is there, in any width, and nothing of a page steers it."""

import dataclasses
import io

import pytest
from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dedup.scrapy.extensions.figures import DroppedPage, Snapshot
from dedup.scrapy.extensions.panel import line, panel
from dedup.scrapy.extensions.terminal import note_width

HOSTILE = "http://a.example/\x1b[2J[red]x[/red]\x07\u202e\x9b"

SNAPSHOT = Snapshot(
    job="crawls/some-job",
    name="docs",
    worker="",
    seconds=3723.4,
    fetched=12_345,
    unique=8_000,
    duplicates={"body": 1_200, "simhash": 45},
    skipped={"http_404": 3_000, "noindex": 100},
    waiting=12,
    failed=7,
    filtered=98_765,
    rendered=42,
    queued=4_321,
    seen=17_000,
    pages_per_second=123.45,
    megabytes_per_second=6.78,
    hosts=[("a.example", 9_000), ("b.example:8080", 345)],
    last=[
        DroppedPage("http://a.example/copy", "http://a.example/original", "body", 1.0),
        DroppedPage("http://b.example:8080/" + "long/" * 60 + "end", HOSTILE, "simhash", 0.875),
    ],
    index_bytes=1_600_000,
    filter_bytes=400_000,
    error_rate=2.5e-7,
)


def shown(snapshot: Snapshot, width: int, height: int = 40) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, markup=False, highlight=False)
    console.print(panel(snapshot, width=width, height=height))
    return file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_panel_shows_every_number_within_its_width(width: int) -> None:
    text = shown(SNAPSHOT, width)
    assert {cell_len(row) for row in text.splitlines()} == {width}
    for number in (
        *("12,345 pages", "123.5 pages/s", "6.78 MB/s", "4,321 queued", "98,765 links"),
        *("8,000 64.8%", "1,200  9.7%", "3,100 25.1%", "9,000", "b.example:8080", "345"),
        *("1.6 MB, 200 bytes a page", "17,000 seen", "2.5e-07", "1:02:03", "crawls/some-job"),
        *("/copy", "/original", "simhash 0.875", "waiting to be read", "12  0.1%"),
    ):
        assert number in text


def test_a_low_terminal_gets_a_low_panel() -> None:
    for height in (10, 20, 24, 30):
        assert len(shown(SNAPSHOT, 120, height).splitlines()) <= max(height, 10)


def test_nothing_of_a_page_steers_the_terminal() -> None:
    hosts = [(HOSTILE, 3), (HOSTILE, 2)]
    text = shown(dataclasses.replace(SNAPSHOT, hosts=hosts, job=HOSTILE), 200)
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(text)
    assert text.count("[red]x[/red]") == 4  # title, two hosts, the original


def test_the_line_has_the_same_numbers() -> None:
    assert line(SNAPSHOT) == (
        "12,345 fetched, 8,000 unique, 1,245 duplicates, 3,100 skipped, 12 waiting,"
        " 98,765 URLs filtered, 4,321 queued, 123.5 pages/s, 6.78 MB/s"
    )


def test_an_almost_empty_filter_has_no_error_rate_of_zero() -> None:
    assert "0.0e+00" not in shown(
        dataclasses.replace(SNAPSHOT, error_rate=0.0), width=120, height=40
    )


def test_wrapped_frame_is_erased_on_narrower_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=30)
    live = Live(console=console, auto_refresh=False, transient=True)
    live.start()
    live.update(Group(Text("x" * 80), Text("y" * 80), Text()), refresh=True)
    note_width(live, 80, 30)  # each full line takes three now
    erased = live._live_render.position_cursor().segment.text
    assert erased.count("\x1b[1A") == 6
    live.stop()


def test_a_worker_of_a_shared_job_is_named() -> None:
    shared = dataclasses.replace(SNAPSHOT, worker="host7:4711")
    assert "docs, worker host7:4711" in shown(shared, 80)
