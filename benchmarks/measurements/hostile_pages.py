"""CPU seconds and peak memory of pages made to be heavy, at three sizes: `hostile_pages.py`.

Each page is read as a crawl reads it: in a process of its own, under the default bounds. CPU time
is what the page took beyond an empty one; memory is the largest that the process had.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable

from dedup.config import DedupConfig
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import RawPage, Wanted
from dedup.scrapy.reading.worker_protocol import ReadingError

_SIZES = (100_000, 1_000_000, 10_000_000)


def _repeat(unit: bytes, *, start: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: start + unit * ((size - len(start)) // len(unit))


def _count(unit: bytes, *, start: bytes = b"", end: bytes = b"") -> Callable[[int], bytes]:
    """The unit with a number in place of each `%d`."""

    def page(size: int) -> bytes:
        number = size // (len(unit) + 4)
        return start + b"".join(unit % n for n in range(number)) + end

    return page


def _long_base(size: int) -> bytes:
    base = b'<base href="http://a.example/%s">' % (b"a/" * min(size // 4, 40_000))
    return base + _count(b"<a href=x%d>")(size - len(base))


def _attributes(size: int) -> bytes:
    tag = b"<p %s>" % b" ".join(b"a%d=1" % n for n in range(10_000))
    return tag * max(size // len(tag), 1)


PAGES: dict[str, Callable[[int], bytes]] = {
    "H1 options": _repeat(b"<option>a", start=b"<select>"),
    "H1 groups of options": _repeat(b"<optgroup><option>", start=b"<select>"),
    "H1 unclosed formatting": _count(b"<font a%d=1>"),
    "H2 late <meta": _repeat(b"<meta ", start=b"\xff"),
    "H2 <script without end": _repeat(b"<script "),
    "H3 links": _count(b"<a href=/%d>x</a>"),
    "M6 a long base": _long_base,
    "M6 tags of 10,000 attributes": _attributes,
    "L1 U+FDFA": _repeat("\ufdfa".encode(), start=b"<p>"),
    "L1 <i><p>": _repeat(b"<i><p>"),
    "L1 text in <table>": _repeat(b"words and words ", start=b"<table>"),
    "L1 text in <table>, in pieces": _repeat(b"word<b>s</b> ", start=b"<table>"),
    "bodies of other attributes": _count(b"<body a%d>"),
    "nested <div>": _repeat(b"<div>"),
    "nested boxes of text": _repeat(b"<div><p>" + b"y " * 30, start=b"<article>"),
    "one long word": _repeat(b"x", start=b"<p>"),
}


def _wanted() -> Wanted:
    stages = ("body", "text", "sentences", "simhash", "minhash")
    return Wanted(
        "content",
        links=True,
        is_nofollow_obeyed=True,
        bodies=True,
        stages=frozenset(stages),
        detection=DedupConfig(),
    )


def _measure(body: bytes) -> dict[str, object]:
    worker = BlockingWorker(_wanted())
    said = "read"
    try:
        worker.read(RawPage(body, "http://a.example/", "text/html", ()))
    except ReadingError as error:
        said = f"{error.reason}: {error}"
    # `close` would kill the process before the kernel knows what it took.
    process = worker._process
    if process is not None and process.stdin is not None:
        process.stdin.close()
        process.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024, "said": said}


def _in_a_process(name: str, size: int) -> dict[str, object]:
    command = [sys.executable, __file__, "--one", name, str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "BYTES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, size = options.one
        body = PAGES[name](int(size)) if name else b"<p>Nothing."
        print(json.dumps(_measure(body)))
        return
    idle = float(str(_in_a_process("", 0)["cpu"]))
    print(f"a process that reads nothing: {idle:.2f} s of CPU")
    for name in PAGES:
        for size in _SIZES:
            found = _in_a_process(name, size)
            cpu, mb = float(str(found["cpu"])) - idle, float(str(found["mb"]))
            print(f"{name:32} {size / 1e6:4.1f} MB {cpu:6.2f} s {mb:6.0f} MB  {found['said']}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
