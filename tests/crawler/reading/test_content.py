"""What is computed of a page beforehand is what the detectors and the store compute themselves."""

from __future__ import annotations

import pickle
from dataclasses import replace

from dedup.config import DedupConfig
from dedup.detectors import default_detectors
from dedup.scrapy.item_fields import ItemFields
from dedup.scrapy.job.in_pipelines import Entry, item_of, page_of_item
from dedup.scrapy.reading.content import ContentReader, RawPage, Wanted
from dedup.store import Page

STAGES = ("body", "text", "sentences", "simhash", "minhash")
WANTED = Wanted(
    "resiliparse",
    links=True,
    is_nofollow_obeyed=True,
    bodies=True,
    stages=frozenset(STAGES),
    detection=DedupConfig(),
)

SENTENCES = " ".join(f"The keeper of lighthouse {n} wrote down the weather." for n in range(20))
CHINESE = "".join(f"第{n}座灯塔的看守人在黎明时分写下了天气。" for n in range(20))
TEXTS = {"English": SENTENCES, "Chinese": CHINESE, "short": "Sold out.", "empty": ""}


def _raw(text: str) -> RawPage:
    html = f"<title>A title</title><p>{text}</p><a href='b?c'>b</a>".encode()
    return RawPage(html, "http://a.example/", "text/html; charset=utf-8", ())


def _nothing(number: int) -> Page:
    raise KeyError(number)


def test_signatures_are_those_of_the_detectors() -> None:
    for name, text in TEXTS.items():
        raw = _raw(text)
        content = pickle.loads(pickle.dumps(ContentReader(WANTED).read(raw)))
        assert content.features is not None
        page = content.complete(Page(id="", text="", body=raw.body))
        alone = replace(page)
        assert {key.partition(" ")[0] for key in page.signatures} == set(STAGES), name
        for given, computed in zip(
            default_detectors(_nothing), default_detectors(_nothing), strict=True
        ):
            assert given.signature(page) == computed.signature(alone), (name, given.stage)
            given.add(page, 7)
            assert given.size_bytes >= 0
        assert page.shingles.tolist() == alone.shingles.tolist()
        assert (page.packed_text, page.packed_body) == (alone.packed_text, alone.packed_body)


def test_nofollow_links() -> None:
    raw = RawPage(
        b"<a href=b>b</a><a rel=nofollow href=c>c</a>", "http://a.example/", "text/html", ()
    )
    b, c = "http://a.example/b", "http://a.example/c"
    obeyed = ContentReader(WANTED)
    followed = ContentReader(replace(WANTED, is_nofollow_obeyed=False))
    content = obeyed.read(raw)
    assert (content.links, content.nofollow_links) == ([b], [c])
    content = followed.read(raw)
    assert (content.links, content.nofollow_links) == ([b, c], [])
    raw = raw._replace(robots_headers=("nofollow",))
    content = obeyed.read(raw)
    assert (content.links, content.nofollow_links) == ([], [b, c])
    content = followed.read(raw)
    assert (content.links, content.nofollow_links) == ([b, c], [])


def test_features_are_not_those_of_a_page_that_a_pipeline_has_changed() -> None:
    raw = _raw(SENTENCES)
    content = ContentReader(WANTED).read(raw)
    read = content.complete(Page(id="", text="", url=raw.url, body=raw.body))
    item = item_of(read)
    page = page_of_item(item, ItemFields(), Entry(read=read))
    assert page is not None
    assert page.signatures
    for change in ({"text": read.text.upper()}, {"title": "Another"}, {"body": b"other"}):
        changed = page_of_item(replace(item, **change), ItemFields(), Entry(read=read))
        assert changed is not None
        assert not changed.signatures
        assert changed.own_title == (read.own_title if "body" in change else None)


def test_only_what_is_wanted_is_computed() -> None:
    wanted = replace(WANTED, links=False, stages=frozenset())
    content = ContentReader(wanted).read(_raw(SENTENCES))
    assert (content.links, content.features) == ([], None)
    content = ContentReader(replace(WANTED, bodies=False)).read(_raw(SENTENCES))
    assert content.links == ["http://a.example/b?c"]
    assert content.features is not None
    assert content.features.packed_body is None
