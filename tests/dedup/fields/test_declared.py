"""What pages declare: authors, descriptions, pictures, types."""

import json

import pytest

from dedup.fields.declared import Declared, read_declared
from dedup.fields.describing import description_of, image_of, site_name_of, type_of
from dedup.fields.people import author_of
from dedup.html import bounded

URL = "http://example.org/news/tea"


def declared(head: str, body: str = "") -> Declared:
    return read_declared(bounded(f"<title>Tea</title>{head}<body><h1>Tea</h1>{body}"), URL)


def author(head: str, body: str = "") -> str | None:
    return author_of(declared(head, body), URL)


def json_ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def article(**values: object) -> str:
    return json_ld({"@context": "https://schema.org", "@type": "NewsArticle", **values})


PERSON = article(author=[{"@type": "Person", "name": "Ann Lee"}])
BYLINE = "<p>By Ann Lee"

AUTHORS = (
    (PERSON, BYLINE, "Ann Lee"),
    (PERSON, "", None),  # nobody can see it
    (article(author={"@id": "#a"}) + json_ld({"@id": "#a", "name": "Ann Lee"}), BYLINE, "Ann Lee"),
    (article(author=["Ann Lee", "Bo Ek"]), "<p>Ann Lee and Bo Ek", "Ann Lee, Bo Ek"),
    ("<meta name=author content='By Ann Lee, AP News Writer'>", BYLINE, "Ann Lee"),
    ("<meta name=author content='Museum'>", "<p>Tea." * 20 + "<p>Museum", None),
    ("<meta name=author content='茶报'>", "<p>茶报首页", None),
    ("<meta name=author content=admin>", "<p>By admin", None),
    ("<meta property=article:author content='https://x.example/ann'>", "", None),
    ("", "<a rel=author href=/ann>Ann Lee</a>", "Ann Lee"),
    ("", "<span itemprop=author><b itemprop=name>Ann Lee</b>, 5 posts</span>", "Ann Lee"),
    ("", "<div class=comments><span itemprop=author>Bo Ek</span></div>", None),
    ("", "<p>作者：王伟 来源：茶报", "王伟"),
    ("", BYLINE, "Ann Lee"),
    ("", "<p>By the harbour", None),
)


@pytest.mark.parametrize(("head", "body", "expected"), AUTHORS)
def test_an_author_is_declared_and_seen(head: str, body: str, expected: str | None) -> None:
    assert author(head, body) == expected


def test_descriptions_are_those_for_previews() -> None:
    found = declared(
        "<base href='/b/'><meta name=Description content=' All\nabout tea '>"
        "<meta property=og:site_name content=Museum><meta property=og:type content=article>"
        "<meta property=og:image content=tins.png>"
    )
    assert description_of(found) == "All about tea"
    assert site_name_of(found) == "Museum"
    assert image_of(found, URL) == "http://example.org/b/tins.png"
    assert type_of(found, URL) == "article"


def test_json_ld_tells_type_picture_and_site() -> None:
    site = json_ld({"@graph": [{"@type": "WebSite", "name": "Museum"}]})
    found = declared(site + article(image=[{"@type": "ImageObject", "url": "/a.png"}]))
    assert type_of(found, URL) == "NewsArticle"
    assert image_of(found, URL) == "http://example.org/a.png"
    assert site_name_of(found) == "Museum"


def test_unknown_is_none() -> None:
    found = declared("<meta property=og:image content='data:image/png,'>")
    fields = [image_of(found, URL), type_of(found, URL), site_name_of(found), description_of(found)]
    assert fields == [None] * 4


@pytest.mark.parametrize(
    "text", ["[", "[" * 10_000, '{"@graph": 3}', "null", '[{"@type": 3}]', "{}"]
)
def test_bad_json_ld_is_no_declaration(text: str) -> None:
    found = declared(f'<script type="application/ld+json">{text}</script>{PERSON}', BYLINE)
    assert author_of(found, URL) == "Ann Lee"


def test_it_is_the_same_after_storing() -> None:
    found = declared(PERSON + "<meta name=author content=x>", BYLINE + "<time datetime=2019-01-02>")
    stored = json.loads(json.dumps(found.to_json()))
    again = Declared.from_json(stored)
    assert again.to_json() == stored
    assert author_of(again, URL) == "Ann Lee"


def test_many_declarations_are_bounded() -> None:
    head = "<meta name=author content=x>" * 10_000 + article(author=["Ann Lee"] * 10_000)
    found = declared(head, "<time datetime=2019-01-02>" * 10_000)
    assert len(json.dumps(found.to_json())) < 50_000
