"""Files that somebody sent, as `dedup` and a resumed crawl read them; and command lines."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from zlib import crc32

import zstandard
from scrapy.settings import BaseSettings

from dedup import Deduplicator, Document, StateError
from dedup.cli import main
from dedup.collection import read_documents
from dedup.collection.rows import Broken
from dedup.html import bounded
from dedup.html.page_text import page_text
from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.job import Job
from dedup.scrapy.spiders.arguments import flag, split_urls, whole_number
from dedup.sites.site import Site
from dedup.store import Page, SqliteStore
from tests.crawler.test_links import make_crawler
from tests.fuzz.running import Make, Run, told

_MANY = 64  # inputs of which one is also given to the whole command
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0")
_URL = "http://a.example/"


def command(*arguments: str) -> int:
    """Run `dedup`; what it refuses, it says in a sentence."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b'{"text": "One."}\n'))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(arguments)
    except SystemExit as end:  # of argparse
        status = end.code if isinstance(end.code, int) else 2
    finally:
        sys.stdin = before
    assert status in (0, 1, 2), status
    if status == 2:
        told(err.getvalue())
    return status


def _collection(ending: str, folder: Path) -> Run:
    path = folder / f"in.{ending}"
    outputs = {option: folder / f"{option}.jsonl" for option in ("-o", "-d", "--broken")}
    options = [str(each) for output in outputs.items() for each in output]

    def read() -> Iterator[object]:
        for row in read_documents(path):
            if isinstance(row, Broken):
                yield row.place, told(row.reason)
            else:
                yield row

    def run(data: bytes) -> object:
        path.write_bytes(data)
        rows: list[object] = []
        try:
            rows.extend(read())
        except (OSError, ValueError) as error:
            rows.append(told(error))
        if ending == "jsonl" and not data.startswith(_COMPRESSED):
            lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
            assert len(rows) == sum(bool(line) and not line.isspace() for line in lines)
        if crc32(data) % _MANY == 0:
            given = [str(path), *options, "--overwrite", "--processes", "1"]
            if command("run", *given) == 0:
                written = sum(each.read_bytes().count(b"\n") for each in outputs.values())
                assert written == len(rows), "rows that are not counted"
        return rows

    return run


def _make_job(folder: Path) -> None:
    """A job with a row in each table."""
    store = SqliteStore(folder / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    story = " ".join(f"Letter {number} came by the evening post." for number in range(20))
    for name, text in {"a": story, "b": story + " Amen.", "c": "其他的內容。" * 20}.items():
        deduplicator.process(Document(id="", text=text, url=_URL + name, title="A letter"))
    outline = page_text(bounded("<p>Not yet.</p>"), "", site=Site()).outline
    assert outline is not None
    page = Page(id="", text="Not yet.", url=_URL + "e", body=b"<p>Not yet.")
    store.learned.add_waiting(page, outline)
    store.learned.add_early(1, "a.example", outline, at_most=9)
    store.learned.add_encoding("a.example", "gb18030")
    for _ in range(2):
        store.refreshes.begin()
    store.refreshes.note_visit(_URL + "a", "changed")
    store.refreshes.replace_page(1, page, {})
    store.note_apart(3, 1, ["a line"])
    store.add_skipped(_URL + "f", "http_404", is_fetched=True, size_bytes=7)
    store.urls.add_alias(_URL + "g", _URL + "a", "redirect")
    stored = b'{"url": "http://a.example/h", "headers": {}, "body": "", "meta": {}}'
    for key, name, request in ((b"k", "h", stored), (b"l", "i", None)):
        store.urls.queue(key * 16, _URL + name, 1, request, slot="a.example", rank=0)
    store.close()


def _resume(folder: Path) -> object:
    """What a crawl reads of its job, to the last queued request."""
    job = Job.of(make_crawler(folder))
    try:
        requests = iter(lambda: job.urls.gate.next(lambda _: 0), None)
        found = [(request.url, request.method) for request in islice(requests, 99)]
        return found, job.pages.arrivals.site(_URL + "b").version
    finally:
        job.close()


_USES = [
    "resume",
    "stats JOB --json",
    *(f"stats JOB --by {by}" for by in ("host", "stage", "pattern", "rule")),
    "stats JOB JOB",
    "report JOB -o report.html",
    *(f"why JOB {_URL}{name}" for name in "abcg"),
    f"pair JOB {_URL}a {_URL}b",
    "export JOB -o pages.jsonl -d dropped.csv --failed failed.jsonl",
    "export JOB -o pages.warc",
    "export JOB -o pages.parquet -d dropped.parquet",
    "run in.jsonl --against JOB -o out.jsonl --processes 1",
    "retry JOB",
]


def _job(change: Callable[[Path, bytes], None], folder: Path) -> Run:
    whole, job = folder / "whole", folder / "job"
    whole.mkdir()
    _make_job(whole)

    def run(data: bytes) -> object:
        shutil.rmtree(job, ignore_errors=True)
        shutil.copytree(whole, job)
        (job / "in.jsonl").write_text('{"text": "One.", "url": "http://a.example/a"}')
        change(job, data[1:])
        os.chdir(job)
        use = _USES[(data or b"\0")[0] % len(_USES)].replace("JOB", str(job))
        try:
            return _resume(job) if use == "resume" else command(*use.split())
        except StateError as error:
            return told(error)
        finally:
            os.chdir(folder)

    return run


def _change_bytes(job: Path, data: bytes) -> None:
    """Of each five bytes: where three of the store's are replaced."""
    path = job / "crawl.sqlite"
    stored = bytearray(path.read_bytes())
    for at in range(0, len(data) - 4, 5):
        place = int.from_bytes(data[at : at + 2], "big") * len(stored) >> 16
        stored[place : place + 3] = data[at + 2 : at + 5]
    path.write_bytes(stored)


def _change_values(job: Path, data: bytes) -> None:
    """Of each part between 03 bytes: the column, the kind of value, and the value."""
    connection = sqlite3.connect(job / "crawl.sqlite", isolation_level=None)
    columns = [
        (table, column)
        for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")
        if not table.startswith("sqlite")
    ]
    for part in data.split(b"\x03"):
        at, kind, raw = *(part + b"\0\0")[:2], part[2:]
        number = int.from_bytes(raw[:8], "big", signed=True)
        text, packed = raw.decode("utf-8", "replace"), zstandard.compress(raw)
        values = [raw, text, packed, None, number, number % 5, number / 7, float("inf")]
        table, column = columns[at % len(columns)]
        with contextlib.suppress(sqlite3.Error):  # against a constraint
            connection.execute(f"UPDATE {table} SET {column} = ?", [values[kind % len(values)]])
    connection.close()


def _change_files(job: Path, data: bytes) -> None:
    names = ["spider_state.json", "stats.json", "crawl.sqlite-wal", "crawl.sqlite-shm", "in.jsonl"]
    (job / names[(data or b"\0")[0] % len(names)]).write_bytes(data[1:])


def _commands(folder: Path) -> Run:
    _make_job(folder)
    (folder / "in.jsonl").write_text('{"id": 1, "text": "One."}\n{"id": 2, "text": "One."}\n')

    def run(data: bytes) -> object:
        with contextlib.suppress(ValueError):
            given = shlex.split(data.decode("utf-8", "surrogateescape").replace("\0", ""))
            if not any(each in word for word in given for each in ("/", "..", "~", "spark", "--p")):
                return command(*given)
        return None

    return run


def _settings(_: Path) -> Run:
    names = [name for name in vars(default_settings) if name.startswith("DEDUP_")]

    def run(data: bytes) -> object:
        settings = BaseSettings()
        settings.setmodule(default_settings)
        text = data[1:].decode("utf-8", "surrogateescape")
        try:
            settings.set(names[(data or b"\0")[0] % len(names)], text)
            CrawlConfig.from_settings(settings)
            return split_urls(text), whole_number("n", text), flag("f", text)
        except ValueError as error:
            return told(error)

    return run


TARGETS: dict[str, Make] = {
    **{ending: partial(_collection, ending) for ending in ("jsonl", "csv", "warc", "parquet")},
    "job_bytes": partial(_job, _change_bytes),
    "job_values": partial(_job, _change_values),
    "job_files": partial(_job, _change_files),
    "commands": _commands,
    "settings": _settings,
}
