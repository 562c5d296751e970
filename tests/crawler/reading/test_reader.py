"""A page read once more, by what has been learned of its host since."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from scrapy import Request
from scrapy.http import HtmlResponse

from dedup.config import DedupConfig
from dedup.scrapy.reading.page import Wanted
from dedup.scrapy.reading.reader import PageReader

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
    assert first.item.text != "开门\nq"
    again = reader.decode_again(first, response, None, "gb18030")
    assert again.raw.host_encoding == "gb18030"
    assert (again.item.text, again.item.title, again.item.encoding) == (
        "开门\nq",
        "茶馆",
        "gb18030",
    )
    assert again.item.depth == 3
    assert again.links == ["http://a.example/?q=%B2%E8"]
    assert replace(again.item, fetched_at=0.0) == replace(known.item, fetched_at=0.0)
