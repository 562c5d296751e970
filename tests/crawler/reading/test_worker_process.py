"""The process that reads pages: its answers, its death, its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from dedup.config import DedupConfig
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import RawPage, Wanted
from dedup.scrapy.reading.worker_process import WorkerProcess
from dedup.scrapy.reading.worker_protocol import WORKER_COMMAND, NotReadError, ReadingError

WANTED = Wanted(
    "resiliparse",
    links=True,
    is_nofollow_obeyed=True,
    bodies=False,
    stages=frozenset(),
    detection=DedupConfig(),
)

# A worker that dies of pages with "die" in their URL, of some only the first time, raises for some,
# and comes to no end with others.
MORTAL = """
import os, signal, sys
from pathlib import Path
from dedup.scrapy.reading import content, worker
read = content.ContentReader.read
def mortal(self, raw, site=None):
    mark = Path(sys.argv[1])
    if "die" in raw.url and not ("once" in raw.url and mark.exists()):
        mark.touch()
        os._exit(9)
    while "endless" in raw.url:
        pass
    if "stop" in raw.url and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    if "raise" in raw.url:
        raise ValueError("no page")
    print("a library prints")
    return read(self, raw, site)
content.ContentReader.read = mortal
worker.run_worker()
"""


def raw(name: str) -> RawPage:
    body = f"<title>{name}</title><p>Text of {name}.</p>".encode()
    return RawPage(body, f"http://a.example/{name}", "text/html; charset=utf-8", ())


def run(
    use: Callable[[WorkerProcess], Awaitable[Any]],
    command: tuple[str, ...] = WORKER_COMMAND,
    wanted: Wanted = WANTED,
) -> tuple[Any, WorkerProcess]:
    async def go() -> tuple[Any, WorkerProcess]:
        worker = WorkerProcess(wanted, command)
        try:
            return await asyncio.wait_for(use(worker), 30), worker
        finally:
            await worker.close()

    return asyncio.run(go())


async def _read_all(worker: WorkerProcess, names: list[str]) -> list[str]:
    async def title(name: str) -> str:
        try:
            return (await worker.read(raw(name))).page.title
        except (ReadingError, NotReadError) as error:
            return str(error) or "not read"

    return await asyncio.gather(*map(title, names))


def test_pages_are_answered_in_their_order() -> None:
    names = [str(number) for number in range(50)]
    titles, worker = run(lambda worker: _read_all(worker, names))
    assert titles == names
    assert len(worker) == 0


def test_unreadable_page_is_reported_and_others_kept(tmp_path: Any) -> None:
    command = (sys.executable, "-c", MORTAL, str(tmp_path / "mark"))
    names = ["1", "raise", "2", "die", "3"]
    titles, _ = run(lambda worker: _read_all(worker, names), command)
    assert titles == [
        "1",
        "ValueError: no page",
        "2",
        "the process reading it ended with status 9",
        "3",
    ]


def test_error_of_a_page_has_its_traceback(tmp_path: Any) -> None:
    async def traceback(worker: WorkerProcess) -> str:
        with pytest.raises(ReadingError, match=r"^ValueError: no page$") as caught:
            await worker.read(raw("raise"))
        return caught.value.traceback

    found, _ = run(traceback, (sys.executable, "-c", MORTAL, str(tmp_path / "mark")))
    assert found.startswith("Traceback (most recent call last):")
    assert ", in mortal\n" in found


def test_a_page_is_read_though_its_first_process_died(tmp_path: Any) -> None:
    command = (sys.executable, "-c", MORTAL, str(tmp_path / "mark"))
    titles, _ = run(lambda worker: _read_all(worker, ["1", "die once", "2"]), command)
    assert titles == ["1", "die once", "2"]


def test_hanging_page_is_given_up(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dedup.scrapy.reading.worker_process.MAX_PAGE_SECONDS", 2)
    monkeypatch.setattr("dedup.scrapy.reading.worker_process._LOOK_SECONDS", 0.1)
    command = (sys.executable, "-c", MORTAL, str(tmp_path / "mark"))
    titles, _ = run(lambda worker: _read_all(worker, ["1", "endless", "2"]), command)
    assert titles == ["1", "the process reading it ended with status -9", "2"]
    assert caplog.text.count("Reading http://a.example/endless takes more than 2 seconds") == 2


def test_a_page_is_read_though_its_first_process_was_stopped(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.scrapy.reading.worker_process.MAX_PAGE_SECONDS", 2)
    command = (sys.executable, "-c", MORTAL, str(tmp_path / "mark"))
    titles, _ = run(lambda worker: _read_all(worker, ["1", "stop", "2"]), command)
    assert titles == ["1", "stop", "2"]


STOPPED = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")


def test_process_stopped_while_starting_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dedup.scrapy.reading.worker_process.MAX_PAGE_SECONDS", 1)
    titles, worker = run(lambda worker: _read_all(worker, ["1", "2"]), STOPPED)
    assert titles == ["not read"] * 2
    assert worker.is_gone


@pytest.mark.parametrize("state", ["reads", "starts"])
def test_a_process_that_is_waited_for_and_stopped_is_given_up(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setattr("dedup.scrapy.reading.blocking_worker.MAX_PAGE_SECONDS", 2)
    mortal = (sys.executable, "-c", MORTAL, str(tmp_path / "mark"))
    worker = BlockingWorker(WANTED, mortal if state == "reads" else STOPPED)
    with pytest.raises(ReadingError, match="ended with status -9"):
        worker.read(raw("stop"))
    worker.close()


def test_process_failing_to_start_is_given_up() -> None:
    command = (sys.executable, "-c", "raise SystemExit(3)")
    titles, worker = run(lambda worker: _read_all(worker, ["1", "2"]), command)
    assert titles == ["not read"] * 2
    assert (worker.is_ready, len(worker)) == (False, 0)


def test_unknown_command_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    titles, worker = run(lambda worker: _read_all(worker, ["1", "2"]), ("/no/such/command",))
    assert titles == ["not read"] * 2
    assert (worker.is_ready, len(worker)) == (False, 0)
    assert "no longer usable" in caplog.text


def test_invalid_answer_ends_the_process(caplog: pytest.LogCaptureFixture) -> None:
    nonsense = "import sys, time; sys.stdout.write('!' + 7 * chr(0) + chr(3) + 'abc'); sys.stdout"
    command = (sys.executable, "-c", f"{nonsense}.flush(); time.sleep(60)")
    titles, worker = run(lambda worker: _read_all(worker, ["1", "2"]), command)
    assert titles == ["not read"] * 2
    assert (worker.is_ready, len(worker)) == (False, 0)
    assert "no longer usable" in caplog.text


def test_what_waits_for_an_abandoned_process_is_not_read() -> None:
    async def abandon(worker: WorkerProcess) -> list[str]:
        reading = asyncio.ensure_future(_read_all(worker, ["1", "2"]))
        while not worker.is_ready:
            await asyncio.sleep(0.01)
        worker.abandon()
        return await reading

    command = (sys.executable, "-c", "import time; print('!', flush=True); time.sleep(60)")
    began = time.monotonic()
    titles, _ = run(abandon, command)
    assert titles == ["not read"] * 2
    assert time.monotonic() - began < 20


def test_it_can_be_closed_while_it_starts() -> None:
    async def nothing(worker: WorkerProcess) -> None:
        pass

    began = time.monotonic()
    _, worker = run(nothing)
    assert not worker.is_ready
    assert time.monotonic() - began < 20


def test_it_ends_with_the_process_that_started_it() -> None:
    async def pid(worker: WorkerProcess) -> int:
        await worker.read(raw("1"))
        assert worker._process is not None
        return worker._process.pid

    number, _ = run(pid)
    with pytest.raises(ProcessLookupError):
        os.kill(number, signal.SIG_DFL)


# Pages that took seconds, or all memory, whatever bounds them now: see tests/dedup/html.
HOSTILE = """
import sys
from dedup.scrapy.reading import content, worker
read = content.ContentReader.read
def hostile(self, raw, site=None):
    while "endless" in raw.url:
        pass
    if "huge" in raw.url:
        held = bytearray(10 << 30)  # refused at once, however slow the machine is
    return read(self, raw, site)
content.ContentReader.read = hostile
worker.run_worker()
"""
LIMITED = replace(WANTED, cpu_seconds=0.5, memory_mb=300)


def _reasons(worker: WorkerProcess, names: list[str]) -> Awaitable[list[str]]:
    async def reason(name: str) -> str:
        try:
            return (await worker.read(raw(name))).page.title
        except ReadingError as error:
            return f"{error.reason}: {error}"

    return asyncio.gather(*map(reason, names))


def test_page_over_cpu_budget_is_given_up_at_once() -> None:
    command = (sys.executable, "-c", HOSTILE)
    names = ["1", "endless", "2", "huge", "3"]
    reasons, _ = run(lambda worker: _reasons(worker, names), command, LIMITED)
    assert reasons == [
        "1",
        "too_complex: takes more than 0.5 s of CPU time",
        "2",
        "too_complex: needs more memory than DEDUP_READ_MEMORY_MB allows",
        "3",
    ]


def test_a_process_that_is_waited_for_has_the_same_bounds() -> None:
    worker = BlockingWorker(LIMITED, (sys.executable, "-c", HOSTILE))
    assert worker.read(raw("1")).page.title == "1"
    with pytest.raises(ReadingError, match=r"takes more than 0\.5 s of CPU"):
        worker.read(raw("endless"))
    assert worker.read(raw("2")).page.title == "2"
    worker.close()
    worker.close()


def test_a_page_of_too_many_tags_costs_no_process() -> None:
    async def read(worker: WorkerProcess) -> list[str]:
        await worker.read(raw("1"))
        assert worker._process is not None
        pid = worker._process.pid
        page = raw("2")._replace(body=b"<p>" * 1_000_001)
        with pytest.raises(ReadingError, match="tags; the limit is") as caught:
            await worker.read(page)
        assert caught.value.reason == "too_complex"
        await worker.read(raw("3"))
        assert worker._process.pid == pid
        return []

    run(read)
