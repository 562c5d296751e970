import contextlib
import sqlite3

import pytest

from dedup.document import Document, Match
from dedup.errors import SchemeError, StateError
from dedup.store import Page, SqliteStore
from dedup.urls.parts import host_of

# An id, URL, title or text that is hard to keep, what is stored of it, and why.
HARD_TEXTS = [
    ("", ""),
    ("plain", "plain"),
    ("中文 \U0001f375 e\u0301", "中文 \U0001f375 e\u0301"),  # beyond the BMP, combining
    ("a\0b", "a\0b"),  # NUL ends no string
    ("a\r\n\t\x1b'\"; DROP TABLE pages", "a\r\n\t\x1b'\"; DROP TABLE pages"),
    ("a\ud800b", "a?b"),  # a lone surrogate has no UTF-8
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "crawl.sqlite"


@pytest.fixture
def store(path):
    store = SqliteStore(path)
    yield store
    store.close()


def text_page(text="text", **fields):
    return Page(**{"id": "", "text": text, "url": "http://example.org/", **fields})


def test_a_path_may_be_text(path):
    with SqliteStore(str(path)) as store:
        store.add(text_page(), {})
    assert path.is_file()


def test_a_page_comes_back_as_it_was(store, path):
    page = Page(
        id="name",
        text="Text. " * 100,
        url="http://example.org/a",
        title="Title",
        body=b"<p>\xff",
        language="en",
        canonical_url="http://example.org/",
        status=200,
        content_type="text/html",
        encoding="utf-8",
        fetched_at=12.5,
        size_bytes=4,
    )
    number = store.add(page, {"body": b"sig"})
    found = store.document(number)
    assert (found.id, found.text, found.url, found.title) == ("name", page.text, page.url, "Title")
    assert list(store.exports.pages()) == [
        {
            "id": "name",
            "url": "http://example.org/a",
            "title": "Title",
            "language": "en",
            "text": page.text,
            "canonical_url": "http://example.org/",
            "status": 200,
            "content_type": "text/html",
            "fetched_at": 12.5,
            "depth": 0,
            "etag": None,
            "last_modified": None,
        }
    ]


@pytest.mark.parametrize(("text", "stored"), HARD_TEXTS)
def test_hard_texts_are_kept(store, text, stored):
    number = store.add(
        Page(id=text, text=text, url=text, title=text, content_type=text, canonical_url=text), {}
    )
    found = store.document(number)
    assert found.text == text  # a copy of the page must resemble it wholly
    assert (found.id, found.url, found.title) == (stored or "1", stored, stored)
    store.add_duplicate(Page(id=text, text=text, url=text, title=text), Match(number, "text"))
    store.add_skipped(text, "not_html", detail=text, is_fetched=False)
    store.urls.add_alias(text, text, "redirect")
    next(store.exports.pages())["text"].encode()  # exported as UTF-8
    assert [row["url"] for row in store.exports.duplicates()] == [stored]


def test_a_duplicate_names_its_original(store):
    first = store.add(text_page(id="first", url="http://example.org/1"), {})
    second = store.add(text_page(url="http://example.org/2"), {})
    copy = text_page(url="http://example.org/3", fetched_at=7.0)
    store.add_duplicate(copy, Match(first, "simhash", 3, 0.875))
    store.add_duplicate(copy, Match(second, "body"))
    assert next(store.exports.duplicates()) == {
        "id": 3,
        "url": "http://example.org/3",
        "duplicate_of": "first",
        "duplicate_of_url": "http://example.org/1",
        "stage": "simhash",
        "distance": 3,
        "resemblance": 0.875,
        "first_seen": 7.0,
        "duplicate_of_job": None,
    }
    assert [row["duplicate_of"] for row in store.exports.duplicates()] == ["first", second]


def test_a_duplicate_of_no_page_is_refused(store):
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        store.add_duplicate(text_page(), Match(99, "text"))
    assert store.exports.count("duplicates") == 0


def test_all_records_share_one_ascending_sequence_across_restarts(path):
    for _ in range(3):
        store = SqliteStore(path)
        store.add(text_page(), {})
        store.add_duplicate(text_page(), Match(1, "text"))
        store.add_skipped("http://example.org/", "noindex", is_fetched=True)
        store.close()
    store = SqliteStore(path)
    for position, table in enumerate(["pages", "duplicates", "skipped"]):
        rows = store.database.connection.execute(f"SELECT number FROM {table} ORDER BY number")
        assert [number for (number,) in rows] == [position + 1, position + 4, position + 7]
    store.close()


def test_failed_unit_rolls_back_all_records(store):
    with contextlib.suppress(KeyError), store.unit():
        store.add(text_page(), {"body": b"x"})
        store.urls.finish([(b"k" * 16, "http://example.org/")])
        store.urls.add_alias("a", "b", "redirect")
        raise KeyError("later")
    assert store.exports.count("pages") == len(store.urls) == store.stats.fetched() == 0
    assert list(store.signatures("body")) == []
    assert store.add(text_page(), {}) > 0


def test_signatures_come_in_batches_by_ascending_number(store, monkeypatch):
    monkeypatch.setattr("dedup.store.sql.reading._SIGNATURES_PER_BATCH", 4)
    for number in range(10):
        store.add(text_page(), {"body": bytes([number]), **({"text": b"t"} if number % 2 else {})})
    batches = list(store.signatures("body"))
    assert [len(values) for _, values in batches] == [4, 4, 2]
    assert [n for numbers, _ in batches for n in numbers] == list(range(1, 11))
    assert b"".join(v for _, values in batches for v in values) == bytes(range(10))
    assert [n for numbers, _ in store.signatures("text") for n in numbers] == [2, 4, 6, 8, 10]
    assert list(store.signatures("simhash")) == []


@pytest.mark.parametrize("keep", [True, False])
def test_bodies_are_kept_where_asked_for(path, keep):
    store = SqliteStore(path, keep_bodies=keep)
    store.add(text_page(body=b"<p>body"), {})
    store.add(text_page(body=None), {})
    rows = store.database.connection.execute("SELECT body IS NOT NULL FROM pages").fetchall()
    assert rows == [(int(keep),), (0,)]
    store.close()


def test_plain_documents_can_be_kept(store):
    number = store.add(Document(id="d", text="中文"), {})
    row = store.database.connection.execute("SELECT size_bytes, url, host FROM pages").fetchone()
    assert row == (6, None, "")
    assert store.document(number).url is None
    assert next(store.exports.pages())["fetched_at"] > 1e9


def test_other_schemes_are_refused_and_named(path):
    store = SqliteStore(path)
    store.check_schemes({"simhash": {"bits": 64}, "body": {"hash": "x"}})
    store.check_schemes({"body": {"hash": "x"}, "simhash": {"bits": 64}})  # the order is no matter
    store.close()
    store = SqliteStore(path)
    message = "it lacks 'minhash', which is now on; simhash bits 64, now 128"
    with pytest.raises(SchemeError, match=message):
        store.check_schemes({"body": {"hash": "x"}, "simhash": {"bits": 128}, "minhash": {}})
    with pytest.raises(SchemeError, match="it has 'body', which is now off"):
        store.check_schemes({"simhash": {"bits": 64}})
    store.close()


def test_an_alias_is_recorded_once_with_its_last_redirect(store):
    for page_url in ("http://example.org/1", "http://example.org/2"):
        for kind in ("canonical", "redirect"):
            store.urls.add_alias("http://example.org/", page_url, kind)
    query = "SELECT kind, page_url FROM aliases ORDER BY kind"
    rows = store.database.connection.execute(query).fetchall()
    assert rows == [("canonical", "http://example.org/1"), ("redirect", "http://example.org/2")]
    with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
        store.urls.add_alias("http://example.org/3", None, "redirect")


def test_damaged_text_is_named(store, path):
    number = store.add(text_page("text " * 100), {})
    connection = store.database.connection
    (whole,) = connection.execute("SELECT text FROM pages").fetchone()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        connection.execute("UPDATE pages SET text = ?", (bytes(damaged),))
        with pytest.raises(StateError, match=f"{path.name}: the text of page {number} is damaged"):
            store.document(number)
    with pytest.raises(StateError, match="is damaged"):
        list(store.exports.pages())


def test_a_store_damaged_where_opening_looks_lets_go_of_its_lock(path):
    store = SqliteStore(path)
    store.database.connection.execute("DROP TABLE skipped")
    store.close()
    for _ in range(2):
        with pytest.raises(StateError, match="not a crawl store's"):
            SqliteStore(path)


def test_what_is_not_there_is_a_plain_error(store):
    with pytest.raises(KeyError, match="7"):
        store.document(7)
    with pytest.raises(
        ValueError, match="table must be 'pages', 'duplicates' or 'earlier', got 'meta'"
    ):
        store.exports.count("meta")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Example.ORG/A", "example.org"),
        ("http://user:secret@example.org:8080/", "example.org:8080"),
        ("http://[::1]:80/", "[::1]:80"),
        ("http://[::1", ""),  # no URL
        ("http://a\ud800b/", "a?b"),
        ("http://a\0b/", "a\0b"),
        ("mailto:a@example.org", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_hosts_of_urls(url, host):
    assert host_of(url) == host
