"""What a report costs: time to make, size of the file, time until it can be used in a browser.

    python benchmarks/measurements/report.py [PAGES] [FOLDER]

Makes a job of PAGES fetched pages (default: 100,000; about half of them duplicates, of all stages
and kinds of URL) through the library's own interface, unless FOLDER has one already, and reports on
it. Needs Chromium for the last two figures.
"""

import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

from dedup import Deduplicator
from dedup.report.page import write_report
from dedup.store import Page, open_store, store_path

REPETITIONS = 5
SITE = "https://docs.example.org"
WORDS = [
    a + b + c for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us", "i")
]
HANZI = [chr(code) for code in range(0x4E00, 0x4E00 + 2_000)]


def text_of(choose: random.Random, *, is_chinese: bool) -> str:
    if is_chinese:
        return "。".join("".join(choose.choices(HANZI, k=20)) for _ in range(25))
    return ". ".join(" ".join(choose.choices(WORDS, k=12)) for _ in range(25))


def variant(choose: random.Random, url: str, text: str) -> tuple[str, str]:
    """Another address of a page, and its text there: the same, or with some words changed."""
    pieces = text.split(" ") if " " in text else list(text)
    for _ in range(choose.choice((0, 0, 0, 1, 2, 4))):
        pieces[choose.randrange(len(pieces))] = choose.choice(WORDS)
    url = choose.choice(
        (
            f"{url}?utm_source=feed{choose.randrange(9)}",
            f"{url}?sort={choose.choice(('up', 'down'))}",
            url.replace("docs.", "mirror."),
            url.replace("/page/", "/print/"),
            f"{url}/",
        )
    )
    return url, (" " if " " in text else "").join(pieces)


def make_job(folder: Path, pages: int) -> None:
    choose = random.Random(1)
    store = open_store(folder)
    deduplicator = Deduplicator(store=store)
    known: list[tuple[str, str]] = []
    for number in range(pages):
        if known and choose.random() < 0.5:
            url, text = variant(choose, *choose.choice(known[-5_000:]))
        else:
            is_chinese = choose.random() < 0.2
            text = text_of(choose, is_chinese=is_chinese)
            url = f"{SITE}/section{number % 40}/page/{number}-{quote(text[:12])}"
            known.append((url, text))
        page = Page(
            id="",
            text=text,
            url=url,
            title=text[:40],
            language="en" if " " in text else "zh",
            fetched_at=1.8e9 + number / 50,
            size_bytes=5 * len(text),
        )
        deduplicator.process(page)
    store.set_meta("started", "1.8e9")
    store.set_meta("finished", repr(1.8e9 + pages / 50))
    store.close()


def seconds_until_usable(path: Path) -> tuple[float, float]:
    """From opening the file until the first list is shown, and from a key in search until found."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        page = browser.new_page()
        page.goto(path.absolute().as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        ready = page.evaluate("performance.now()") / 1_000
        search = page.evaluate(
            "() => { const began = performance.now(); byId('search').value = 'mirror 12';"
            " browser.filter(); return (performance.now() - began) / 1000; }"
        )
        browser.close()
    return ready, search


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp())
    if not store_path(folder).exists():
        make_job(folder, pages)
    made, usable = [], []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        path = write_report(folder)
        made.append(time.perf_counter() - began)
    print(f"{pages:,} pages, {folder}")
    print(f"file: {path.stat().st_size / 1e6:.2f} MB")
    print(f"made in: {statistics.median(made):.2f} s ({min(made):.2f} to {max(made):.2f})")
    if not shutil.which("chromium"):
        print("no Chromium here: not opened")
        return
    usable = [seconds_until_usable(path) for _ in range(REPETITIONS)]
    for name, values in zip(
        ("usable after", "search takes"), zip(*usable, strict=True), strict=True
    ):
        print(f"{name}: {statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
