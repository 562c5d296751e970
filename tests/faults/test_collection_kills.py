"""`dedup run --job` killed while it works gives, in the end, the output of a run left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dedup.store import STORE_NAME, open_store
from dedup.store.sqlite import SqliteStore

pytestmark = pytest.mark.slow

_CODE = "import sys; from dedup.cli import main; sys.exit(main())"
_KILLS = 3


def rows(count: int) -> str:
    """Rows of words of their own, each third a near copy of one before."""
    choose = random.Random(8)
    texts: list[list[str]] = []
    for number in range(count):
        words = ["".join(choose.choices("abcdefgh", k=6)) for _ in range(120)]
        if number % 3 == 2:
            words = list(choose.choice(texts))
            words[choose.randrange(120)] = "new"
        texts.append(words)
    lines = (json.dumps({"id": n, "text": " ".join(words)}) for n, words in enumerate(texts))
    return "\n".join(lines)


def command(folder: Path, name: str) -> list[str]:
    outputs = ["-o", str(folder / f"{name}.jsonl"), "-d", str(folder / f"{name}-d.jsonl")]
    job = ["--job", str(folder / f"{name}-job"), "--keep", "longest", "--processes", "2"]
    return [sys.executable, "-c", _CODE, "run", str(folder / "in.jsonl"), *outputs, *job]


def size_bytes(job: Path) -> int:
    """Of the store, with its journal, which may go meanwhile."""
    size = 0
    for each in job.glob(f"{STORE_NAME}*"):
        with suppress(FileNotFoundError):
            size += each.stat().st_size
    return size


def children(process: subprocess.Popen[bytes]) -> list[int]:
    try:
        found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    except OSError:
        return []
    return list(map(int, found.split()))


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")


def heed_signals() -> None:
    """`nohup` ignores SIGHUP, a shell's background SIGINT, and a program inherits that."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def records(job: Path) -> int:
    """How many rows a job has judged for good."""
    with SqliteStore(job / STORE_NAME) as store:
        return store.decisions.count()


def judged(folder: Path) -> int:
    """How many rows a run that goes on has judged for good."""
    with open_store(folder / "out-job", read_only=True) as store:
        return store.decisions.count()


def test_killed_run_resumes(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(rows(4_000))
    subprocess.run(command(tmp_path, "whole"), check=True)
    size = size_bytes(tmp_path / "whole-job")
    killed: list[int] = []
    while len(killed) < _KILLS:
        step = size * (len(killed) + 1) // (2 * _KILLS + 2)  # kills come late
        with subprocess.Popen(command(tmp_path, "out")) as run:
            try:
                while run.poll() is None and size_bytes(tmp_path / "out-job") < step:
                    time.sleep(0.005)
                while run.poll() is None and len(killed) == _KILLS - 1 and not judged(tmp_path):
                    time.sleep(0.05)  # the journal may hold no whole group yet
                if run.poll() is not None:
                    pytest.fail(f"it ended with {run.returncode} before kill {len(killed) + 1}")
            finally:
                run.send_signal(signal.SIGKILL)
        killed.append(records(tmp_path / "out-job"))
        assert not (tmp_path / "out.jsonl").exists()
    assert 0 < killed[-1] < 4_000  # some rows were judged, and some left
    subprocess.run(command(tmp_path, "out"), check=True)
    for end in (".jsonl", "-d.jsonl"):
        assert (tmp_path / f"out{end}").read_bytes() == (tmp_path / f"whole{end}").read_bytes()
    assert len((tmp_path / "out-d.jsonl").read_bytes().splitlines()) > 1_200


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_a_run_that_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    """Nor do files, unless it is killed outright."""
    folder, temporary = tmp_path / "x", tmp_path / "t"
    folder.mkdir()
    temporary.mkdir()
    (folder / "in.jsonl").write_text(rows(4_000))
    out = ["-o", str(folder / "out.jsonl"), "--processes", "2"]
    arguments = [sys.executable, "-c", _CODE, "run", str(folder / "in.jsonl"), *out]
    with subprocess.Popen(
        arguments,
        env={**os.environ, "TMPDIR": str(temporary)},
        preexec_fn=heed_signals,
    ) as run:
        try:
            while run.poll() is None and not list(folder.glob(".part-*.jsonl")):
                time.sleep(0.005)
            workers = children(run)
        finally:
            run.send_signal(number)
    expected = {signal.SIGINT: 130, signal.SIGKILL: -9}.get(number, 128 + number)
    assert run.returncode == expected
    assert len(workers) >= 2
    deadline = time.monotonic() + 60
    while any(map(is_alive, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    if number != signal.SIGKILL:
        assert [each.name for each in folder.iterdir()] == ["in.jsonl"]
        assert not list(temporary.iterdir())
