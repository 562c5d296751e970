"""URLs that were left out or put off, and are queued again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dedup.store import open_store
from dedup.store.records import (
    DONE,
    DUPLICATE_LINK,
    DUPLICATE_LINK_END,
    DUPLICATE_LINK_RANK,
    QUEUED,
)

A, B, C, D = (bytes([number]) * 16 for number in range(4))


def test_skipped_urls_come_back_by_reason(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        for key, reason in ((A, DUPLICATE_LINK), (B, "trap"), (C, DUPLICATE_LINK)):
            url = f"http://a.example/{key[0]}"
            store.urls.queue(key, url, 1, slot="a.example", rank=9)
            store.add_skipped(url, reason, is_fetched=False)
            store.urls.finish([(key, url)])
        assert store.urls.queue_skipped(DUPLICATE_LINK) == {"a.example": 2}
        assert [store.urls.state(key) for key in (A, B, C)] == [QUEUED, DONE, QUEUED]
        assert [row.rank for row in store.urls.first_queued("a.example", 9)] == [0, 0]
        assert store.stats.failed() == {"trap": 1}
        assert store.urls.queue_skipped(DUPLICATE_LINK) == {}


@pytest.mark.parametrize("with_skipped", [True, False])
def test_links_on_duplicates_come_back_by_their_keys(tmp_path: Path, *, with_skipped: bool) -> None:
    with open_store(tmp_path) as store:
        late = DUPLICATE_LINK_RANK + 3
        for key, rank in ((A, late), (B, late), (C, DUPLICATE_LINK_END), (D, late)):
            store.urls.queue(key, f"http://a.example/{key[0]}", 3, slot="a.example", rank=rank)
        store.add_skipped("http://a.example/1", DUPLICATE_LINK, is_fetched=False)
        store.urls.finish([(B, "http://a.example/1")], has_failed=True)
        found = store.urls.queue_found([A, B, C], with_skipped=with_skipped)
        assert found == {"a.example": int(with_skipped)}
        queued = {row.key: row.rank for row in store.urls.first_queued("a.example", 9)}
        assert queued == {A: 3, C: DUPLICATE_LINK_END, D: late} | ({B: 0} if with_skipped else {})
        assert store.stats.failed() == ({} if with_skipped else {DUPLICATE_LINK: 1})
