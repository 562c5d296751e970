"""A database that is another's, that forbids, that is hasty, or that does not answer."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import psycopg.conninfo
import pytest

from dedup.store import open_store

pytestmark = pytest.mark.slow

N_PAGES = 40


@pytest.fixture
def pages(site: Any, make: Any) -> Any:
    site.routes = {f"/{n}": make.page(f"Page {n}") for n in range(N_PAGES)}
    site.routes["/"] = make.page("Start", *site.routes)
    return site


class Swallower:
    """A way to the server that stays open, and on which nothing arrives once `is_silent`."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self.is_silent = False
        self._is_closed = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_closed:
            for key, _ in self._selector.select(0.05):
                if key.data is None:
                    self._accept()
                elif not self.is_silent:
                    self._pass_on(key.fileobj, key.data)

    def _accept(self) -> None:
        near = self._listening.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        far.connect(str(self._server))
        for one, other in ((near, far), (far, near)):
            self._selector.register(one, selectors.EVENT_READ, other)

    def _pass_on(self, one: Any, other: socket.socket) -> None:
        if one.fileno() < 0:  # closed with the other, after both had something to read
            return
        try:
            data = one.recv(65536)
            other.sendall(data)
        except OSError:
            data = b""
        if not data:
            for each in (one, other):
                self._selector.unregister(each)
                each.close()

    def close(self) -> None:
        self._is_closed = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr] # all are sockets
        self._selector.close()


@pytest.fixture
def swallower(postgresql: Any) -> Iterator[Swallower]:
    running = Swallower(postgresql.folder / ".s.PGSQL.5432")
    yield running
    running.close()


def test_two_ctrl_c_end_a_crawl_whose_database_does_not_answer(
    crawl: Any, pages: Any, new_place: Callable[[], str], swallower: Swallower
) -> None:
    address = f"postgresql://crawler@127.0.0.1:{swallower.port}/postgres"
    job = new_place().rpartition("#")[2]
    begun = threading.Event()

    def on_request(target: str) -> None:
        if len(pages.asked) >= 10:
            swallower.is_silent = True
            begun.set()

    pages.on_request = on_request
    options = ("-s", f"DEDUP_STORE={address}", "-s", "DOWNLOAD_DELAY=0.05")
    crawling = crawl.start("site", *options, url=pages.url, job=job)
    assert begun.wait(120)
    time.sleep(1)
    for _ in range(2):
        crawling.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    crawled = crawling.finish(timeout=60)  # of which it waits for 3 s; without that, for minutes
    assert crawled.status == 130, crawled.output
    assert "Traceback" not in crawled.output


@pytest.fixture
def role(postgresql: Any) -> Iterator[Callable[[str], str]]:
    """Makes a role of these options; returns the address for it."""
    name = f"role_{os.getpid()}"
    with psycopg.connect(postgresql.address, autocommit=True) as admin:

        def make(options: str) -> str:
            admin.execute(f"CREATE ROLE {name} LOGIN {options}")
            return str(postgresql.address).replace("crawler@", f"{name}@")

        yield make
        admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def _begin(crawl: Any, pages: Any, place: str) -> dict[str, str]:
    """A job that has some pages, and some to fetch; the arguments to go on with it."""
    address, _, job = place.rpartition("#")
    arguments = {"url": pages.url, "job": job}
    assert crawl("site", "-s", f"DEDUP_STORE={address}", max_pages=5, **arguments).status == 0
    return arguments


def test_role_without_create_right_is_refused(
    crawl: Any, pages: Any, role: Callable[[str], str]
) -> None:
    crawled = crawl("site", "-s", f"DEDUP_STORE={role('')}", url=pages.url, job="forbidden")
    assert crawled.status == 2
    assert "the user lacks a privilege (permission denied for database" in crawled.output
    assert pages.asked == []


def test_read_only_role_is_refused_without_endless_retries(
    crawl: Any,
    pages: Any,
    postgresql: Any,
    new_place: Callable[[], str],
    role: Callable[[str], str],
) -> None:
    place = new_place()
    arguments = _begin(crawl, pages, place)
    address = role("")
    name, job = psycopg.conninfo.conninfo_to_dict(address)["user"], arguments["job"]
    with psycopg.connect(postgresql.address, autocommit=True) as admin:
        for right in ("USAGE ON SCHEMA", "ALL ON ALL TABLES IN SCHEMA"):
            admin.execute(f"GRANT {right} {job} TO {name}")
        admin.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {job} TO {name}")
        admin.execute(f"REVOKE INSERT ON {job}.pages FROM {name}")
    crawled = crawl("site", "-s", f"DEDUP_STORE={address}", **arguments)
    assert crawled.status == 1
    assert "the user lacks a privilege (permission denied for table pages)" in crawled.output
    assert "Traceback" not in crawled.output
    assert "the crawl resumes after" not in crawled.output


_FOREIGN = {
    "a sequence at its end": ("SELECT setval('changes', 9223372036854775807)", "maximum value"),
    "another type": (
        "ALTER TABLE pages ALTER number TYPE text",
        "its tables are not a job's",
    ),
    "signatures of other lengths": (
        "UPDATE signatures SET value = '\\x00'",
        "its signatures are damaged",
    ),
    "an outline of other bytes": (
        "INSERT INTO waiting SELECT 0, 'x', h, '', '', NULL, 0, '', '', 0, 0, 0, NULL, NULL, '',"
        " '', h::bytea, h::bytea, h::bytea FROM (SELECT min(host) AS h FROM pages) AS found"
        " ON CONFLICT DO NOTHING",
        "is damaged",
    ),
}


@pytest.mark.parametrize(("statement", "said"), _FOREIGN.values(), ids=_FOREIGN)
def test_foreign_data_in_tables_ends_the_crawl_with_a_sentence(
    crawl: Any,
    pages: Any,
    postgresql: Any,
    new_place: Callable[[], str],
    statement: str,
    said: str,
) -> None:
    place = new_place()
    arguments = _begin(crawl, pages, place)
    with psycopg.connect(postgresql.address, autocommit=True) as other:
        other.execute(f"SET search_path = {arguments['job']}")
        other.execute(statement.replace("INTO waiting", "INTO waiting OVERRIDING SYSTEM VALUE"))
    crawled = crawl("site", "-s", f"DEDUP_STORE={postgresql.address}", **arguments)
    assert crawled.status == 1
    assert said in crawled.output
    assert "Traceback" not in crawled.output


def test_urls_that_are_all_the_same_are_all_finished(
    crawl: Any, pages: Any, postgresql: Any, new_place: Callable[[], str]
) -> None:
    place = new_place()
    arguments = _begin(crawl, pages, place)
    with psycopg.connect(postgresql.address, autocommit=True) as other:
        query = f"UPDATE {arguments['job']}.urls SET url = 'no URL' WHERE state = 0"
        n_queued = other.execute(query).rowcount
    crawled = crawl("site", "-s", f"DEDUP_STORE={postgresql.address}", **arguments)
    assert crawled.status == 0, crawled.output
    assert crawled.output.count("The queued request for no URL cannot be read") == n_queued > 9


def test_statement_timeout_lets_a_worker_wait(
    new_place: Callable[[], str], role: Callable[[str], str]
) -> None:
    address = role("SUPERUSER")
    name, job = psycopg.conninfo.conninfo_to_dict(address)["user"], new_place().rpartition("#")[2]
    with psycopg.connect(address, autocommit=True) as admin:
        admin.execute(f"ALTER ROLE {name} SET statement_timeout = '100ms'")
    with open_store(f"{address}#{job}", is_shared=True) as store:
        list(store.database.all("SELECT pg_sleep(0.3)"))
