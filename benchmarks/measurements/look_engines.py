"""Are the pages of a crawl judged alike by the crawl, one process, two processes and Spark?

Run: python -m benchmarks.measurements.look_engines JOB FOLDER [--hosts NAME,...] [--show 10]

JOB is a finished crawl of one site: a folder, or the address of a PostgreSQL database. Its pages
and duplicates become a web archive, in the order of their numbers: the bodies of pages that stay
are those that the job keeps, those of duplicates are read from FOLDER, the built site, whose links
to `--hosts` are made links to where it was served. The archive goes to `dedup run`, and its
verdicts are compared, those of the engines with each other and with the job's.

What the crawl knew of the site when it read a page is less than what is learned first in a
collection, so texts may differ, and so may verdicts: of each difference it is told whether the
page, or the other one of the pair, has another text.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.sites.folder import HTML, SiteFolder
from dedup.cli import main as dedup
from dedup.collection import Broken, read_documents
from dedup.collection.columns import Columns
from dedup.collection.formats import format_of
from dedup.collection.reading import read_rows
from dedup.collection.sites import learn_sites
from dedup.collection.sources import Source
from dedup.store import JobStore, open_store
from dedup.store.opening import job_place

Verdicts = dict[str, str | None]
"""Of each URL that of the page that stays for it; None: it stays itself."""

_ENGINES = {
    "1 process": ["--processes", "1"],
    "2 processes": ["--processes", "2"],
    "Spark": ["--engine", "spark", "--master", "local[2]"],
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page of the job.

    Attributes:
        original: the URL of the page that stays for it; None: it stays itself.
        text: as the job has it; None: of a duplicate it has none.
    """

    number: int
    url: str
    content_type: str
    body: bytes
    original: str | None = None
    text: str | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("job")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hosts", default="")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    site = SiteFolder(options.folder, [each for each in options.hosts.split(",") if each])
    with open_store(job_place(options.job), read_only=True) as store:
        pages = sorted(fetched(store, site), key=lambda page: page.number)
    with tempfile.TemporaryDirectory(prefix="dedup-look-") as name:
        archive = Path(name, "pages.warc")
        archive.write_bytes(b"".join(map(record, pages)))
        compare(pages, archive, options.show)


def fetched(store: JobStore, site: SiteFolder) -> Iterator[Fetched]:
    for page in store.exports.pages():
        body = store.body(page["id"])
        if body is None:
            raise SystemExit("the job keeps no bodies; crawl with DEDUP_STORE_BODIES=True")
        yield Fetched(page["id"], page["url"], page["content_type"], body, text=page["text"])
    for each in store.exports.duplicates():
        parts = urlsplit(each["url"])
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = site.answer(target, f"{parts.scheme}://{parts.netloc}/")
        if answer.status != 200:
            raise SystemExit(f"{each['url']}: FOLDER answers {answer.status}")
        yield Fetched(each["id"], each["url"], HTML, answer.body, each["duplicate_of_url"])


def record(page: Fetched) -> bytes:
    """The page as a record of a web archive."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {page.content_type}\r\n\r\n".encode() + page.body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:page:{page.number}>\r\n"
        f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {page.url}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def compare(pages: list[Fetched], archive: Path, show: int) -> None:
    wanted: Verdicts = {page.url: page.original for page in pages}
    print(f"the job: {len(pages):,} pages, {count_dropped(wanted):,} dropped", flush=True)
    found = {engine: run(pages, archive, options) for engine, options in _ENGINES.items()}
    first = found["1 process"]
    for engine, verdicts in found.items():
        print(
            f"{engine}: {count_dropped(verdicts):,} dropped;"
            f" {count_differing(verdicts, first):,} verdicts differ from those of 1 process,"
            f" {count_differing(verdicts, wanted):,} from the job's",
            flush=True,
        )
    explain(pages, archive, wanted, first, show)


def count_dropped(verdicts: Verdicts) -> int:
    return sum(original is not None for original in verdicts.values())


def count_differing(first: Verdicts, second: Verdicts) -> int:
    return sum(first[url] != second[url] for url in first)


def run(pages: list[Fetched], archive: Path, options: list[str]) -> Verdicts:
    out = archive.parent / f"dropped-{len(list(archive.parent.iterdir()))}"
    name = out if "spark" in options else out.with_suffix(".jsonl")
    if dedup(["run", str(archive), "-d", str(name), *options]):
        raise SystemExit("dedup run failed")
    files = sorted(name.glob("part-*")) if name.is_dir() else [name]
    found: Verdicts = {page.url: None for page in pages}
    for line in (line for file in files for line in file.read_text().splitlines()):
        row = json.loads(line)
        found[row["url"]] = row["duplicate_of_url"]
    return found


def explain(
    pages: list[Fetched], archive: Path, wanted: Verdicts, found: Verdicts, show: int
) -> None:
    """Tell of verdicts that differ, and which texts do."""
    texts = texts_of(archive)
    has_other_text = {
        page.url: page.text != texts[page.url] for page in pages if page.text is not None
    }
    print(f"{sum(has_other_text.values()):,} of {len(has_other_text):,} kept pages: another text")
    differing = [url for url in wanted if wanted[url] != found[url]]
    for url in differing[:show]:
        concerned = {url, wanted[url], found[url]} - {None}
        other = sum(has_other_text.get(str(each), False) for each in concerned)
        print(f"  {url}\n    job: {wanted[url]}\n    run: {found[url]}\n    other texts: {other}")


def texts_of(archive: Path) -> dict[str, str]:
    """By URL the texts that are judged in a run."""
    columns = Columns()
    source = Source(archive, archive.name, format_of(archive), archive.stat().st_size)
    sites = learn_sites(read_rows(source, columns), columns)
    read = [
        each for each in read_documents(archive, sites, columns) if not isinstance(each, Broken)
    ]
    return {document.url or "": document.text for _, document in read}


if __name__ == "__main__":
    main()
