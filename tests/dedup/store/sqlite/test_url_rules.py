"""What SQLite alone has to do for learned URL rules: URLs come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedup.document import Document
from dedup.store import open_store
from dedup.store.records import (
    DONE,
    DUPLICATE_LINK,
    DUPLICATE_LINK_RANK,
    LEARNED_RANK,
    QUEUED,
)

A, B, C, D = (bytes([number]) * 16 for number in range(4))


def test_skipped_urls_come_back_by_reason_and_detail(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for key, detail in ((A, "one"), (B, "two"), (C, "one")):
            url = f"http://a.example/{key[0]}"
            store.urls.queue(key, url, 1, slot="a.example", rank=9)
            store.add_skipped(url, "learned_rule", detail=detail, is_fetched=False)
            store.urls.finish([(key, url)])
        assert store.queue_skipped("learned_rule", "one") == {"a.example": 2}
        assert [store.urls.state(key) for key in (A, B, C)] == [QUEUED, DONE, QUEUED]
        assert [row.rank for row in store.urls.first_queued("a.example", 9)] == [0, 0]
        assert store.stats.failed() == {"learned_rule": 1}
        assert store.queue_skipped("learned_rule", "one") == {}


@pytest.mark.parametrize("with_skipped", [True, False])
def test_links_on_duplicates_come_back_by_their_keys(tmp_path: Path, *, with_skipped: bool) -> None:
    with open_store(tmp_path) as store:
        late = DUPLICATE_LINK_RANK + 3
        for key, rank in ((A, late), (B, late), (C, LEARNED_RANK + 3), (D, late)):
            store.urls.queue(key, f"http://a.example/{key[0]}", 3, slot="a.example", rank=rank)
        store.add_skipped("http://a.example/1", DUPLICATE_LINK, is_fetched=False)
        store.urls.finish([(B, "http://a.example/1")], has_failed=True)
        found = store.queue_found([A, B, C], with_skipped=with_skipped)
        assert found == {"a.example": int(with_skipped)}
        queued = {row.key: row.rank for row in store.urls.first_queued("a.example", 9)}
        assert queued == {A: 3, C: LEARNED_RANK + 3, D: late} | ({B: 0} if with_skipped else {})
        assert store.stats.failed() == ({} if with_skipped else {DUPLICATE_LINK: 1})


def test_pages_are_counted_by_host(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for url in ("http://a.example/1", "http://a.example/2", "http://b.example/"):
            store.add(Document(url, url, url=url), {})
        assert [store.count_pages_of(f"{name}.example") for name in "abc"] == [2, 1, 0]
