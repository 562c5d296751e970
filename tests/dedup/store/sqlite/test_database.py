import errno
import fcntl
import os
import random
import signal
import sqlite3
import subprocess
import sys

import pytest

from dedup.errors import StateError
from dedup.store import Page, SqliteStore, summarise
from dedup.store.sql import database as database_module
from dedup.store.sqlite.database import Database


def units(database, names, **options):
    for name in names:
        with database.unit(**options) as connection:
            connection.execute("INSERT INTO counters VALUES (?, 1)", (name,))


def committed(path):
    """What another connection sees."""
    reader = Database(path, read_only=True)
    names = [name for (name,) in reader.connection.execute("SELECT name FROM counters")]
    reader.close()
    return "".join(names)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "job" / "crawl.sqlite"


def test_a_query_may_be_left_in_the_middle_and_the_database_be_closed(path):
    database = Database(path)
    units(database, "ab")
    rows = database.each("SELECT name FROM counters")
    next(rows)
    database.close()
    rows.close()


# --- Units and groups ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group_units", "names", "expected"),
    [
        (1, "abc", "abc"),  # no groups
        (2, "abc", "ab"),  # the third unit waits for the fourth
        (3, "abc", "abc"),
        (4, "abc", ""),
    ],
)
def test_units_are_committed_once_their_group_is_full(path, group_units, names, expected):
    database = Database(path, group_units=group_units, group_seconds=1e9)
    units(database, names)
    assert committed(path) == expected
    database.close()
    assert committed(path) == names


def test_old_group_is_committed(path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(database_module.time, "monotonic", lambda: now)
    database = Database(path, group_units=1000, group_seconds=2)
    units(database, "a")
    now = 101.9
    database.commit_if_due()
    assert committed(path) == ""
    now = 102.0
    database.commit_if_due()
    assert committed(path) == "a"
    database.close()


def test_units_without_weight_wait_for_the_next(path):
    database = Database(path, group_units=1)
    units(database, "ab", weight=0)
    database.commit_if_due()
    assert committed(path) == ""
    units(database, "c")
    assert committed(path) == "abc"
    database.close()


def test_raising_unit_rolls_back_only_itself(path):
    database = Database(path)
    units(database, "a")

    def fail():
        with database.unit():
            units(database, "b")  # nested, and done
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        fail()
    units(database, "c")
    database.close()
    assert committed(path) == "ac"


def test_raising_inner_unit_rolls_back_outer_unit(path):
    database = Database(path, group_units=1)
    units(database, "x")

    def swallow():
        with database.unit():
            units(database, "a")
            with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
                units(database, "ba")

    with pytest.raises(RuntimeError, match="a unit inside this one has failed"):
        swallow()
    units(database, "c")
    database.close()
    assert committed(path) == "cx"


def test_a_commit_within_a_unit_is_refused(path):
    database = Database(path)
    with database.unit(), pytest.raises(RuntimeError, match="outside of units"):
        database.commit()
    units(database, "a")
    database.close()
    database.close()
    assert committed(path) == "a"


def test_a_full_disk_is_said_and_nothing_is_written_after_it(path):
    database = Database(path, group_units=2)
    units(database, "abc")
    pages = database.connection.execute("PRAGMA page_count").fetchone()[0]
    database.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateError, match=r"cannot be read or written .*full.*Check the disk"):
        database.set_meta("long", "x" * 100_000)
    with pytest.raises(StateError, match="an earlier write to the store failed"):
        units(database, "d")
    database.close()
    assert committed(path) == "ab"  # the first group; the second is lost whole


def test_reads_of_one_reader_agree_while_the_job_goes_on(path):
    writer = SqliteStore(path, group_units=1)
    writer.add(Page(id="a", text="one"), {})
    reader = SqliteStore(path, read_only=True)
    writer.add(Page(id="b", text="two"), {})
    assert summarise(reader)["pages"]["unique"] == 1
    assert [page["id"] for page in reader.exports.pages()] == ["a"]
    assert reader.exports.count("pages") == 1
    reader.close()
    writer.close()


def test_a_reader_cannot_write(path):
    Database(path).close()
    reader = Database(path, read_only=True)
    with pytest.raises(StateError, match="readonly"):
        units(reader, "a")
    reader.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_units": 0}, "group_units must be at least 1, got 0"),
        ({"group_seconds": 0}, "group_seconds must be greater than 0, got 0"),
    ],
)
def test_wrong_arguments_are_refused(path, options, message):
    with pytest.raises(ValueError, match=message):
        Database(path, **options)


# --- Files that are no stores --------------------------------------------------------------------


def sqlite_file(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def a_store_with(*statements):
    def make(path):
        Database(path).close()
        sqlite_file(path, *statements)

    return make


BAD_FILES = {
    "text": (lambda path: path.write_text("My notes, not a crawl."), "begins with b'My notes"),
    "a few bytes": (lambda path: path.write_bytes(b"SQLi"), "begins with b'SQLi'"),
    "only a header": (lambda path: path.write_bytes(b"SQLite format 3\0"), "damaged"),
    "zeros": (lambda path: path.write_bytes(bytes(8192)), "begins with"),
    "a folder": (lambda path: path.mkdir(), "expected a file, found something else"),
    "another program's": (
        lambda path: sqlite_file(path, "CREATE TABLE notes (text)"),
        "another program",
    ),
    "another program's, without tables yet": (
        lambda path: sqlite_file(path, "PRAGMA application_id = 7"),
        "another program",
    ),
    "a later release's": (
        a_store_with("PRAGMA user_version = 99"),
        r"expected schema version \d+, found 99",
    ),
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(("make", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_other_file_is_refused_and_unchanged(tmp_path, make, message, read_only):
    path = tmp_path / "crawl.sqlite"
    make(path)
    before = path.is_file() and path.read_bytes()
    for _ in range(2):  # the first leaves no lock behind
        with pytest.raises(StateError, match=message):
            Database(path, read_only=read_only)
    assert (path.is_file() and path.read_bytes()) == before


def test_pages_left_beside_a_file_that_is_gone_are_not_deleted(tmp_path):
    log = tmp_path / "crawl.sqlite-wal"
    log.write_bytes(b"committed, and not yet copied")
    with pytest.raises(StateError, match=r"crawl\.sqlite-wal next to it holds some"):
        Database(tmp_path / "crawl.sqlite")
    assert log.read_bytes() == b"committed, and not yet copied"


@pytest.mark.parametrize(("content", "message"), [(None, "job not found"), (b"", "store is empty")])
def test_a_reader_finds_no_job_and_makes_none(tmp_path, content, message):
    path = tmp_path / "crawl.sqlite"
    if content is not None:
        path.write_bytes(content)
    before = list(tmp_path.iterdir())
    with pytest.raises(StateError, match=message):
        Database(path, read_only=True)
    assert list(tmp_path.iterdir()) == before


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "crawl.sqlite"
    path.touch()  # as left by a process that died before it wrote anything
    Database(path).close()
    assert committed(path) == ""


def test_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="the folder cannot be written"):
        Database(tmp_path / "file" / "crawl.sqlite")
    with pytest.raises(StateError, match="the store cannot be read"):
        Database(tmp_path / "file" / "crawl.sqlite", read_only=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_can_be_read(path):
    database = Database(path)
    units(database, "a")
    database.close()
    path.parent.chmod(0o555)
    try:
        assert committed(path) == "a"
        path.with_name(path.name + ".lock").chmod(0o444)
        with pytest.raises(StateError, match="the folder cannot be written"):
            Database(path)
    finally:
        path.parent.chmod(0o755)


def test_a_path_may_have_any_characters(tmp_path):
    path = tmp_path / "50% off? #1 & 中文" / "crawl.sqlite"
    Database(path).close()
    assert path.exists()
    assert committed(path) == ""


# --- Damage --------------------------------------------------------------------------------------


@pytest.fixture
def whole(tmp_path):
    """The bytes of a store with some of everything."""
    path, generator = tmp_path / "whole.sqlite", random.Random(5)
    store = SqliteStore(path)
    for number in range(60):
        key = number.to_bytes(16, "big")
        text = generator.randbytes(generator.randrange(4000)).hex()
        store.urls.queue(key, f"http://example.org/{number}", 1, b"request")
        store.add(Page(id="", text=text, url=f"http://example.org/{number}"), {"body": key})
        store.add_skipped(f"http://example.org/-{number}", "http_404", is_fetched=True)
    store.close()
    return path.read_bytes()


def read_all(path, *, read_only):
    store = SqliteStore(path, read_only=read_only)
    try:
        summarise(store)
        for rows in (store.exports.pages(), store.exports.duplicates(), store.signatures("body")):
            list(rows)
        list(store.urls.keys())
        store.urls.first_queued("", 999)
        return store.exports.count("pages"), store.stats.fetched(), len(store.urls)
    finally:
        store.close()


def test_a_file_cut_off_anywhere_is_refused_and_left_as_it_was(whole, tmp_path):
    path, generator = tmp_path / "cut.sqlite", random.Random(6)
    ends = [1, 15, 16, 99, 100, 512, 4095, 4096, 8192, len(whole) - 4096, len(whole) - 1]
    for end in [*ends, *(generator.randrange(1, len(whole)) for _ in range(30))]:
        path.write_bytes(whole[:end])
        with pytest.raises(StateError, match=r"damaged|begins with"):
            read_all(path, read_only=True)
        assert path.read_bytes() == whole[:end]


@pytest.mark.parametrize("read_only", [False, True])
def test_bytes_changed_anywhere_are_a_clear_error_if_one_at_all(whole, tmp_path, read_only):
    path, generator = tmp_path / "changed.sqlite", random.Random(7)
    outcomes = []
    for _ in range(80):
        changed = bytearray(whole)
        start = generator.randrange(100, len(whole) - 300)
        changed[start : start + 300] = generator.randbytes(300)
        path.write_bytes(changed)
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        try:
            outcomes.append(read_all(path, read_only=read_only))
        except StateError as error:
            outcomes.append("damaged" in error.problem or "invalid values" in error.problem)
    assert False not in outcomes  # every error said so, and named the file
    assert outcomes.count(True) > 30  # what is not noticed are numbers, names and free space


def test_damage_met_within_a_unit_is_a_clear_error(path):
    store = SqliteStore(path)
    query = "SELECT rootpage FROM sqlite_schema WHERE name = 'urls_queued'"
    page = store.database.connection.execute(query).fetchone()[0]
    store.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    store = SqliteStore(path)  # which does not look there
    with pytest.raises(StateError, match="the store is damaged"):
        store.urls.queue(b"key", "http://a.example/", 0, None, slot="a.example", rank=0)
    with pytest.raises(StateError, match="the store is damaged"):
        store.close()  # what waited cannot be committed; the lock is let go all the same
    SqliteStore(path).close()


# --- Other processes -----------------------------------------------------------------------------

OPEN = """
import sys
from pathlib import Path
from dedup.errors import StateError
from dedup.store import SqliteStore
try:
    SqliteStore(Path(sys.argv[1]), read_only=sys.argv[2] == "read_only").close()
except StateError as error:
    print(error)
"""

CRAWL = """
import sys
from pathlib import Path
from dedup.store import Page, SqliteStore
store = SqliteStore(Path(sys.argv[1]), group_units=int(sys.argv[2]), group_seconds=1e9)
print("open", flush=True)
for number in range(100_000):
    key, url = number.to_bytes(16, "big"), f"http://example.org/{number}"
    store.urls.queue(key, url, 0)
    with store.unit():
        store.add(Page(id="", text=url * 50, url=url), {"body": key})
        store.urls.add_alias(url + "#", url, "canonical")
        store.urls.finish([(key, url)])
    print(number + 1, flush=True)
"""


def python(code, *arguments):
    return [sys.executable, "-c", code, *map(str, arguments)]


def test_second_process_sees_the_owner_and_may_read(path):
    database = Database(path)
    units(database, "a")
    told = subprocess.check_output(python(OPEN, path, "write"), text=True)
    assert f"the job is in use by another process (pid {os.getpid()}). Wait for it" in told
    assert subprocess.check_output(python(OPEN, path, "read_only"), text=True) == ""
    database.close()
    assert subprocess.check_output(python(OPEN, path, "write"), text=True) == ""


@pytest.mark.parametrize(("group_units", "kill_after"), [(1, 3), (10, 157), (10, 5), (64, 900)])
def test_a_process_killed_while_it_writes_leaves_a_consistent_prefix(path, group_units, kill_after):
    child = subprocess.Popen(python(CRAWL, path, group_units), stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if line.strip() == str(kill_after):
            break
    os.kill(child.pid, signal.SIGKILL)
    written = int((child.stdout.read().split() or [kill_after])[-1])
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL

    store = SqliteStore(path)  # the dead process holds no lock
    count = store.exports.count("pages")
    assert written - group_units < count <= written + 1  # the last line may not have been printed
    assert [page["id"] for page in store.exports.pages()] == list(range(1, count + 1))
    done = [store.urls.is_done(number.to_bytes(16, "big")) for number in range(count + 2)]
    assert done == [True] * count + [False, False]
    assert sum(len(numbers) for numbers, _ in store.signatures("body")) == count
    assert summarise(store)["urls"]["aliases"] == count
    assert store.add(Page(id="", text="next"), {}) == count + 1
    store.close()


def test_the_lock_file_may_hold_anything(path):
    path.parent.mkdir()
    path.with_name(path.name + ".lock").write_bytes(b"\xff\xfe" * 5000)
    Database(path).close()
    assert path.with_name(path.name + ".lock").read_text() == str(os.getpid())


def test_reader_closes_after_damage(path):
    store = SqliteStore(path)
    query = "SELECT rootpage FROM sqlite_schema WHERE name = 'aliases'"
    page = store.database.connection.execute(query).fetchone()[0]
    store.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    store = SqliteStore(path, read_only=True)
    with pytest.raises(StateError, match="the store is damaged"):
        list(store.database.all("SELECT * FROM aliases"))
    store.close()  # SQLite would refuse a COMMIT


# --- File systems without locks ------------------------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_refused(path, monkeypatch, code):
    def flock(descriptor, operation):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StateError, match=r"the job cannot be locked .* Choose another folder"):
        SqliteStore(path)


def test_two_writers_whose_locks_do_nothing_are_noticed(path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", lambda descriptor, operation: None)
    one, two = SqliteStore(path), SqliteStore(path)
    for _ in range(3):
        units(one.database, "a")
        one.database.connection.execute("DELETE FROM counters")
        one.database.commit()
    with pytest.raises(StateError, match="another process writes to the job"):
        units(two.database, "b")
    two.close()
    units(one.database, "c")
    one.close()
    assert committed(path) == "c"
