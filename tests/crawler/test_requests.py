"""Requests through the job's store and back."""

import dataclasses
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Field, FormRequest, Item, Request, Spider

from dedup.scrapy.frontier.meta import KEY
from dedup.scrapy.frontier.stored_request import UnserialisableError, from_bytes, is_plain, to_bytes
from dedup.scrapy.spiders.site import SiteSpider


class Shop(Spider):
    name = "shop"

    def found(self, response):
        pass

    def lost(self, failure):
        pass


shop = Shop()


def through(request):
    stored = to_bytes(request, shop)
    return stored, from_bytes(stored, shop)


def test_a_request_comes_back_with_all_its_parts():
    request = Request(
        "http://example.org/中?q=1",
        shop.found,
        "POST",
        headers={"X-Twice": ["a", "b"], "Accept": "\xe9"},
        body=b"\xff\x00{}",
        cookies={"a": "1"},
        meta={KEY: b"key", "depth": 3, "nested": {"list": [1, None, 2.5]}},
        priority=-4,
        errback=shop.lost,
        flags=["cached"],
        cb_kwargs={"found_on": "http://example.org/"},
    )
    stored, back = through(request)
    assert stored.startswith(b"{")
    del request.meta[KEY]  # the row has it
    assert back.to_dict(spider=shop) == request.to_dict(spider=shop)


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: "a"}, {"a": {2}}, b"bytes", float("nan"), 1j, [({},)], {None: 1}],
    ids=repr,
)
def test_values_that_json_would_change_are_not_stored(value):
    with pytest.raises(UnserialisableError, match="JSON"):
        to_bytes(Request("http://example.org/", meta={"value": value}), shop)


class Book(Item):
    title = Field()
    parts = Field()


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    number: int
    book: object = None


class Noted(Item):
    title = Field()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._note = "made"


@pytest.mark.parametrize(
    "item", [Book(), Book(title="a", parts=[Part(1), Part(2, Book(title="b"))]), Part(3)], ids=repr
)
def test_items_come_back_as_they_were(item):
    meta, arguments = {"item": item}, {"nested": [{"item": item}]}
    _, back = through(Request("http://a.example/", meta=meta, cb_kwargs=arguments))
    assert (back.meta, back.cb_kwargs) == (meta, arguments)
    assert type(back.meta["item"]) is type(item)


@pytest.mark.parametrize(
    "value",
    [
        Noted(title="a"),  # what is no field would be lost
        dataclasses.make_dataclass("Local", ["number"])(1),
        {"dedup_item": f"{__name__}.Book", "fields": {}},
        {"dedup_item": "os.path", "fields": {}},
    ],
    ids=repr,
)
def test_items_that_would_come_back_as_others_are_not_stored(value):
    with pytest.raises(UnserialisableError, match="JSON"):
        to_bytes(Request("http://a.example/", meta={"value": value}), shop)


class _Dangerous:
    def __reduce__(self):
        return pytest.fail, ("code of the store has run",)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (pickle.dumps(_Dangerous()), "pickles of earlier releases are not read"),
        (b"", "not JSON"),
        (b'{"_class": "this.Unimportable"}', "not a request class"),
        (b'{"_class": "os.system"}', "not a request class"),
        (b'{"_class": "subprocess.Popen"}', "not a request class"),
        (b'{"callback": "__init__"}', "not a method for responses"),
        (b'{"meta": {"dedup_item": "subprocess.Popen", "fields": {}}}', "not an item class"),
        (b'{"meta": {"dedup_item": "collections.Counter", "fields": {}}}', "not an item class"),
    ],
)
def test_a_store_of_a_stranger_runs_nothing(stored, message):
    if stored.startswith(b"{"):
        stored = b'{"url": "http://a.example/", "body": "", "headers": {}, ' + stored[1:]
    with pytest.raises(UnserialisableError, match=message):
        from_bytes(stored, shop)


def test_the_class_of_a_request_is_kept():
    _, back = through(FormRequest("http://example.org/", formdata={"a": "1"}))
    assert type(back) is FormRequest
    assert (back.method, back.body) == ("POST", b"a=1")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(values, st.binary(), st.lists(st.binary()))
def test_any_values_come_back_as_they_were(value, body, header):
    request = Request("http://example.org/", body=body, meta={"a": value}, headers={"X": header})
    _, back = through(request)
    assert back.to_dict() == request.to_dict()
    assert repr(back.meta) == repr(request.meta)  # types too


@pytest.mark.parametrize(
    "fields",
    [{"callback": lambda response: None}, {"meta": {"a": lambda: None}}, {"callback": print}],
)
def test_value_that_cannot_be_stored_is_one_error(fields):
    with pytest.raises(UnserialisableError, match=r"function|lambda|method|JSON"):
        to_bytes(Request("http://example.org/", **fields), shop)


def test_missing_callback_is_reported_when_read():
    stored = to_bytes(Request("http://example.org/", shop.found), shop).replace(b"found", b"fount")
    with pytest.raises(ValueError, match="'fount' not found"):
        from_bytes(stored, shop)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"meta": {"depth": 2, KEY: b"k"}}, True),
        ({"priority": 5, "dont_filter": True}, True),  # the row has the one; the other is past
        ({"meta": {"retry_times": 1}}, False),
        ({"headers": {"If-None-Match": '"a"'}}, False),
        ({"cb_kwargs": {"a": 1}}, False),
        ({"method": "HEAD"}, False),
        ({"cookies": {"a": "1"}}, False),
        ({"callback": None}, False),
    ],
)
def test_plain_requests_are_those_that_url_and_depth_make_again(changes, expected):
    spider = SiteSpider(url="http://example.org/")
    request = spider.page_request("http://example.org/").replace(**changes)
    assert is_plain(request, spider) is expected
    assert not is_plain(request, shop)
