"""Jobs that cannot be opened: one sentence each, and never a password."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from dedup.document import Document
from dedup.errors import SchemeError, StateError
from dedup.store import JobStore, Page, open_store
from dedup.store.postgresql import check_name, parse_place, without_password
from dedup.store.postgresql.schema import ADDED_TABLES


def execute(place: str, query: str) -> None:
    found = parse_place(place)
    with psycopg.connect(found.dsn, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{found.name}"')
        connection.execute(query)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:secret@db:5432/crawls#news", "postgresql://me@db:5432/crawls#news"),
        ("postgresql://db/crawls?password=secret", "postgresql://db/crawls"),
        (
            "postgresql:///crawls?host=db.example&password=secret",
            "postgresql:///crawls?host=db.example",
        ),
        ("postgresql://me:se%40cret@[::1]/crawls", "postgresql://me@[::1]/crawls"),
        ("postgresql://db/crawls?a=\udcff", "postgresql://db/crawls?a=%3F"),
        ("crawls/news", "crawls/news"),  # a folder
    ],
)
def test_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown


def test_place_is_shown_without_its_password() -> None:
    assert "secret" not in repr(parse_place("postgresql://me:secret@db:5432/crawls#news"))


@pytest.mark.parametrize("name", ["a", "news-2", "a_b", "0"])
def test_names_of_jobs(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", "News", "a.b", "pg_jobs", "public", "a" * 49, "-a", 'a"b'])
def test_names_that_no_job_can_have(name: str) -> None:
    with pytest.raises(ValueError, match="lower case letters, digits, _ and -"):
        check_name(name)


def test_address_without_name_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be postgresql://USER@HOST:PORT/DATABASE#NAME"):
        open_store("postgresql://me:secret@db/crawls")


@pytest.mark.parametrize("options", [{"read_only": True}, {"must_exist": True}])
def test_no_job_is_made_where_one_is_wanted(
    new_place: Callable[[], str], options: dict[str, bool]
) -> None:
    place = new_place()
    for _ in range(2):
        with pytest.raises(StateError, match="job not found"):
            open_store(place, **options)


def test_unreachable_server_is_one_sentence_without_the_password() -> None:
    with pytest.raises(StateError, match="cannot be reached") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/crawls#news")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("postgresql://me@127.0.0.1:1/crawls#news: ")


def test_invalid_address_is_not_quoted() -> None:
    with pytest.raises(StateError, match="not a database address") as caught:
        open_store("postgresql://me:secret@db/crawls?no_such_option=secret#news")
    assert "secret" not in str(caught.value).replace("no_such_option=secret", "")


def test_missing_database_is_reported(new_place: Callable[[], str]) -> None:
    place = new_place().replace("/postgres?", "/nothing?")
    with pytest.raises(StateError, match='database "nothing" does not exist'):
        open_store(place)


def test_user_without_rights_sees_the_missing_ones(new_place: Callable[[], str]) -> None:
    place = new_place()
    with open_store(place):
        pass
    name = parse_place(place).name.replace("job", "guest")
    execute(place, f"CREATE ROLE {name} LOGIN")
    as_guest = place.replace("crawler@", f"{name}@")
    for wanted in (as_guest, new_place().replace("crawler@", f"{name}@")):
        with pytest.raises(
            StateError, match=r"lacks a privilege \(permission denied|expected a job"
        ):
            open_store(wanted)


def test_schema_of_another_program_is_left_alone(new_place: Callable[[], str]) -> None:
    place = new_place()
    execute(place, f'CREATE SCHEMA "{parse_place(place).name}"')
    with pytest.raises(StateError, match="found another program's schema"):
        open_store(place)
    with pytest.raises(StateError, match="found another program's schema"):
        open_store(place, read_only=True)


def test_older_schema_is_recognised_by_version(new_place: Callable[[], str]) -> None:
    place = new_place()
    with open_store(place):
        pass
    execute(place, "UPDATE job SET version = 0")
    with pytest.raises(StateError, match="expected schema version 3, found 0"):
        open_store(place)


def test_job_without_the_tables_that_were_added_is_read_and_goes_on(
    new_place: Callable[[], str],
) -> None:
    place = new_place()
    with open_store(place) as store:
        store.add(Document("a", "A text."), {})
    schema = parse_place(place).name
    execute(place, "; ".join(f'DROP TABLE "{schema}".{name}' for name in ADDED_TABLES))
    declared = '[["meta","robots","noai"]]'
    with open_store(place, read_only=True) as reader:
        assert [each[2] for each in reader.exports.declared()] == [""]
    with open_store(place) as store:
        store.add(Page("b", "B text.", preferences=declared), {})
    with open_store(place, read_only=True) as reader:
        assert [each[2] for each in reader.exports.declared()] == ["", declared]


def test_job_of_other_settings_is_refused(new_place: Callable[[], str]) -> None:
    with open_store(new_place()) as store:
        store.check_schemes({"text": {"width": 1}})
        with pytest.raises(SchemeError, match="text width 1, now 2"):
            store.check_schemes({"text": {"width": 2}})


def test_second_process_sees_the_owner(new_place: Callable[[], str]) -> None:
    place = new_place()
    with open_store(place) as store:
        store.add(Document("a", "A text."), {})
        with pytest.raises(StateError, match=r"in use by another process \(.*:\d+\)"):
            open_store(place)
        store.commit()
        with open_store(place, read_only=True) as reader:
            assert reader.document(1).text == "A text."
    open_store(place).close()


def test_reader_cannot_write(new_place: Callable[[], str]) -> None:
    place = new_place()
    open_store(place).close()
    with (
        open_store(place, read_only=True) as reader,
        pytest.raises(StateError, match="read-only transaction"),
    ):
        reader.set_meta("name", "value")


def test_missing_psycopg_names_the_remedy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name: None if name == 'psycopg' else find(name)\n"
        "from dedup.cli import main\n"
        "sys.exit(main(['stats', 'postgresql://me:secret@db/crawls#news']))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2
    assert found.stderr.splitlines() == [
        "dedup: a job in PostgreSQL needs a package that is not installed; install it:"
        " pip install 'scrapy-dedup[postgresql]'"
    ]


def test_stopped_server_is_one_sentence(own_postgresql: object) -> None:
    server = own_postgresql
    errors: list[str] = []
    store: JobStore = open_store(f"{server.address}#news")  # type: ignore[attr-defined]
    store.on_error(lambda error: errors.append(str(error)))
    server.stop()  # type: ignore[attr-defined]
    with pytest.raises(StateError, match="the database cannot be used"):
        store.add(Document("a", "A text."), {})
    with pytest.raises(StateError, match="an earlier write to the store failed"):
        store.add(Document("a", "A text."), {})
    assert len(errors) == 1
    store.close()
