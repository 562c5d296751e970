"""What a power cut or a bad disk leaves of the write-ahead log: a prefix of what was committed."""

import random
import shutil

import pytest

from dedup.errors import StateError
from dedup.store.records import Page
from dedup.store.sqlite import SqliteStore

_PAGES = 60


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    """A store as a killed process leaves it: most of it in the log."""
    folder = tmp_path_factory.mktemp("crashed")
    store = SqliteStore(folder / "crawl.sqlite", group_units=1)
    for number in range(_PAGES):
        with store.unit():
            store.add(Page(id="", text=f"text {number} " * 40, url=f"http://a/{number}"), {})
            store.urls.finish([(number.to_bytes(16, "big"), f"http://a/{number}")])
    left = tmp_path_factory.mktemp("left")
    for name in ("crawl.sqlite", "crawl.sqlite-wal"):
        shutil.copyfile(folder / name, left / name)
    store.close()
    return left


def _pages_of(folder):
    """Numbers of the stored pages, texts read and checked; None: the store says what is wrong."""
    try:
        store = SqliteStore(folder / "crawl.sqlite")
    except StateError:
        return None
    try:
        pages = [(page["id"], page["text"]) for page in store.exports.pages()]
        assert all(text == f"text {number - 1} " * 40 for number, text in pages)
        assert len(store.urls) == len(pages)  # a page and its URL go together
    except StateError:
        return None
    finally:
        store.close()
    return [number for number, _ in pages]


def _damaged(crashed, folder, change):
    shutil.copytree(crashed, folder)
    path = folder / "crawl.sqlite-wal"
    log = bytearray(path.read_bytes())
    path.write_bytes(change(log))
    return _pages_of(folder)


def test_without_damage_all_is_there(crashed, tmp_path):
    assert _damaged(crashed, tmp_path / "whole", bytes) == list(range(1, _PAGES + 1))


def test_a_log_cut_off_anywhere_gives_what_was_committed_before(crashed, tmp_path):
    size = (crashed / "crawl.sqlite-wal").stat().st_size
    choose = random.Random(1)
    counts = []
    for index in range(40):
        length = choose.randrange(0, size)
        found = _damaged(crashed, tmp_path / str(index), lambda log, n=length: bytes(log[:n]))
        if found is not None:
            assert found == list(range(1, len(found) + 1))
            counts.append((length, len(found)))
    assert len({count for _, count in counts}) > 10
    assert [count for _, count in sorted(counts)] == sorted(count for _, count in counts)


def test_a_bit_flipped_anywhere_in_the_log_gives_what_was_committed_before(crashed, tmp_path):
    size = (crashed / "crawl.sqlite-wal").stat().st_size
    choose = random.Random(2)
    for index in range(40):
        place, bit = choose.randrange(size), 1 << choose.randrange(8)

        def flip(log, place=place, bit=bit):
            log[place] ^= bit
            return bytes(log)

        found = _damaged(crashed, tmp_path / str(index), flip)
        if found is not None:
            assert found == list(range(1, len(found) + 1))
