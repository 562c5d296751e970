"""Pages read once more, by what has been learned of their host; slow pages beside others."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, replace
from functools import partial

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from dedup.config import DedupConfig
from dedup.scrapy.reading.content import Wanted
from dedup.scrapy.reading.page_reader import PageReader
from dedup.scrapy.reading.worker_process import WorkerProcess
from dedup.scrapy.reading.worker_protocol import ReadingError

URL = "http://a.example/"
WANTED = Wanted(
    "content",
    links=True,
    is_nofollow_obeyed=True,
    bodies=False,
    stages=frozenset(),
    detection=DedupConfig(),
)


def test_page_is_decoded_again_as_if_its_host_had_been_known() -> None:
    body = "<title>茶馆</title><p>开门</p><a href='?q=茶'>q</a>".encode("gb18030")
    response = HtmlResponse(URL, body=body, request=Request(URL, meta={"depth": 3}))
    reader = PageReader(WANTED, processes=0)
    first = asyncio.run(reader.read(response))
    known = asyncio.run(reader.read(response, None, "gb18030"))
    assert first is not None
    assert known is not None
    assert not first.is_encoding_sure
    assert first.page.text != "开门\nq"
    again = asyncio.run(reader.decode_again(first, response, None, "gb18030"))
    assert again.raw.host_encoding == "gb18030"
    assert (again.page.text, again.page.title, again.page.encoding) == (
        "开门\nq",
        "茶馆",
        "gb18030",
    )
    assert again.page.depth == 3
    assert again.links == ["http://a.example/?q=%B2%E8"]
    assert asdict(again.page) | {"fetched_at": 0} == asdict(known.page) | {"fetched_at": 0}


ENDLESS = """
from dedup.scrapy.reading import content, worker
read = content.ContentReader.read
def endless(self, raw, site=None):
    while "endless" in raw.url:
        pass
    return read(self, raw, site)
content.ContentReader.read = endless
worker.run_worker()
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [0, 1, 2])
def test_slow_pages_never_hold_all_readers(
    processes: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """None of these is large, and any of them is slow for all that is known before."""
    monkeypatch.setattr(
        "dedup.scrapy.reading.page_reader.WorkerProcess",
        partial(WorkerProcess, command=(sys.executable, "-c", ENDLESS)),
    )
    wanted = replace(WANTED, cpu_seconds=3.0)
    ended: list[str] = []
    reasons: list[str] = []
    names = [f"endless {number}" for number in range(3)]
    names += [f"{kind} {number}" for number in range(8) for kind in ("small", "middle")]

    async def read(reader: PageReader, name: str) -> None:
        size = 10 if name.startswith("small") else 200_000
        body = f"<title>{name}</title><p>Text.".encode() + b" " * size
        try:
            found = await reader.read(HtmlResponse(URL + name, body=body, request=Request(URL)))
            assert found is not None
            assert found.page.title == name
        except ReadingError as error:
            reasons.append(f"{error.reason}: {error}")
        ended.append(name)

    async def read_all() -> int:
        reader = PageReader(wanted, processes)
        try:
            await asyncio.wait_for(asyncio.gather(*(read(reader, name) for name in names)), 240)
            return len(reader._workers)
        finally:
            await reader.close()

    n_workers = asyncio.run(read_all())
    assert n_workers <= max(processes + 1, 2)
    assert sorted(ended) == sorted(names)
    assert reasons == ["too_complex: takes more than 3 s of CPU time"] * 3
    kinds = "".join(name[0] for name in ended)
    assert "e" not in kinds[: kinds.rindex("s")], ended
    assert kinds[: kinds.rindex("m")].count("e") <= 2, ended
    assert caplog.text.count("ended with status") == 3
