from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.document import Match
from dedup.errors import StateError
from dedup.store import Page, SqliteStore, summarise

KINDS = ["unique", "body", "simhash", "noindex", "http_404", "timeout"]
records = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.sampled_from(["a.example", "b.example", "b.example:8080"]),
        st.integers(0, 5000),
    ),
    max_size=25,
)


def write(store, kind, url, size_bytes, original):
    page = Page(id="", text=url, url=url, size_bytes=size_bytes)
    if kind == "unique":
        return store.add(page, {"body": b"x"})
    if kind in ("body", "simhash"):
        store.add_duplicate(page, Match(original, kind))
    elif kind == "timeout":  # no response
        store.add_skipped(url, kind, is_fetched=False)
    else:
        store.add_skipped(url, kind, is_fetched=True, size_bytes=size_bytes)
    return original


@settings(max_examples=50, deadline=None)
@given(records, st.integers(0, 25))
def test_counts_reconcile_for_any_records_across_a_restart(tmp_path_factory, records, restart):
    path = tmp_path_factory.mktemp("summary") / "crawl.sqlite"
    records = [("unique", "a.example", 10), *records]  # there is an original
    store, original, pages, sizes, hosts = SqliteStore(path), None, Counter(), Counter(), Counter()
    for number, (kind, host, size) in enumerate(records):
        if number == restart:
            store.close()
            store = SqliteStore(path)
        original = write(store, kind, f"http://{host}/{number}", size, original)
        pages[kind] += 1
        if kind != "timeout":
            sizes[kind] += size
            hosts[host] += 1
    found = summarise(store)
    assert store.stats.fetched() == found["pages"]["fetched"]
    n_skipped = sum(found["pages"]["skipped"].values())
    assert store.stats.pages() == found["pages"]["fetched"] - n_skipped
    store.close()

    failed = pages.pop("timeout", 0)
    assert found["failed"] == ({"timeout": failed} if failed else {})
    for part, oracle in (("pages", pages), ("bytes", sizes)):
        counts = found[part]
        assert counts["fetched"] == sum(oracle.values())
        assert counts["unique"] == oracle["unique"]
        assert counts["duplicates"] == {k: oracle[k] for k in ("body", "simhash") if pages[k]}
        assert counts["skipped"] == {k: oracle[k] for k in ("http_404", "noindex") if pages[k]}
    by_host = {
        row["host"]: row["unique"] + row["duplicates"] + row["skipped"] for row in found["hosts"]
    }
    assert by_host == dict(hosts)
    assert sum(row["bytes"] for row in found["hosts"]) == found["bytes"]["fetched"]
    for column in ("unique", "duplicates", "skipped"):
        whole = found["pages"][column]
        total = whole if column == "unique" else sum(whole.values())
        assert sum(row[column] for row in found["hosts"]) == total


def test_an_empty_store_counts_nothing(tmp_path):
    store = SqliteStore(tmp_path / "crawl.sqlite")
    nothing = {"fetched": 0, "unique": 0, "duplicates": {}, "skipped": {}, "waiting": 0}
    assert summarise(store) == {
        "pages": nothing,
        "bytes": nothing,
        "kept_apart": 0,
        "needs_rendering": 0,
        "freshness": {},
        "rendering": {},
        "failed": {},
        "urls": {"seen": 0, "queued": 0, "filtered": 0, "too_deep": 0, "nofollow": 0, "aliases": 0},
        "refresh": {},
        "preferences": {"pages": {}, "hosts": {}},
        "hosts": [],
    }
    store.close()


def test_urls_are_counted_by_what_became_of_them(tmp_path):
    store = SqliteStore(tmp_path / "crawl.sqlite")
    for number in range(5):
        depth = min(number, 1)  # all but the first were found by a link
        store.urls.queue(bytes([number]) * 16, f"http://example.org/{number}", depth)
    store.urls.finish([(bytes([0]) * 16, "http://example.org/0")])
    store.urls.add_alias("http://example.org/x", "http://example.org/0", "redirect")
    for amount in (3, 4):
        store.add_to_counter("links", amount)
    store.add_to_counter("nofollow", 2)
    urls = summarise(store)["urls"]
    assert urls == {
        "seen": 5,
        "queued": 4,
        "filtered": 3,
        "too_deep": 0,
        "nofollow": 2,
        "aliases": 1,
    }
    store.close()


def test_hosts_with_most_pages_come_first_and_the_list_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr("dedup.store.summary._TOP_HOSTS", 2)
    store = SqliteStore(tmp_path / "crawl.sqlite")
    for host in "cabacc":
        store.add(Page(id="", text="x", url=f"http://{host}.example/"), {})
    hosts = summarise(store)["hosts"]
    assert [(row["host"], row["unique"]) for row in hosts] == [("c.example", 3), ("a.example", 2)]
    store.close()


def test_damage_error_names_the_file(tmp_path):
    path = tmp_path / "crawl.sqlite"
    store = SqliteStore(path)
    store.database.connection.execute("DROP TABLE aliases")
    with pytest.raises(StateError, match=r"crawl\.sqlite: the store is damaged \(no such table"):
        summarise(store)
    store.close()
