"""`open_store`: the job's folder or the file, made or not."""

from pathlib import Path

import pytest

from dedup.document import Document
from dedup.errors import StateError
from dedup.store import STORE_NAME, open_store, store_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("job", "job/crawl.sqlite"),  # a folder that is not there yet
        ("site.example", "site.example/crawl.sqlite"),  # a full stop makes no file of it
        ("job/crawl.sqlite", "job/crawl.sqlite"),
        ("other.sqlite", "other.sqlite"),
        ("folder.sqlite", "folder.sqlite/crawl.sqlite"),  # which is a folder
        ("file", "file"),  # which is a file
    ],
)
def test_path_is_the_jobs_folder_or_the_file(tmp_path: Path, given: str, expected: str) -> None:
    (tmp_path / "folder.sqlite").mkdir()
    (tmp_path / "file").touch()
    assert store_path(tmp_path / given) == tmp_path / expected
    assert store_path(str(tmp_path / given)) == tmp_path / expected


def test_store_is_found_by_folder_and_by_file(tmp_path: Path) -> None:
    with open_store(tmp_path / "job") as store:
        number = store.add(Document("a", "A text."), {})
    for path in (tmp_path / "job", tmp_path / "job" / STORE_NAME):
        with open_store(path, read_only=True) as store:
            assert store.path == tmp_path / "job" / STORE_NAME
            assert store.document(number).text == "A text."


@pytest.mark.parametrize("options", [{"read_only": True}, {"must_exist": True}])
def test_no_store_is_made_where_one_is_wanted(tmp_path: Path, options: dict[str, bool]) -> None:
    with pytest.raises(StateError, match="job not found"):
        open_store(tmp_path / "job", **options)
    assert not (tmp_path / "job").exists()


def test_bodies_are_kept_as_asked(tmp_path: Path) -> None:
    with open_store(tmp_path, keep_bodies=False) as store:
        number = store.add(Document("a", "A text.", body=b"A body."), {})
        assert store.body(number) is None


def test_store_that_need_not_last_is_not_synced(tmp_path: Path) -> None:
    for is_durable, expected in ((True, 1), (False, 0)):
        with open_store(tmp_path / str(is_durable), is_durable=is_durable) as store:
            assert store.database.connection.execute("PRAGMA synchronous").fetchone() == (expected,)
