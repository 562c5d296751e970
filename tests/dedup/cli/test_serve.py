"""`dedup serve`, the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from socket import create_connection
from urllib.request import Request, urlopen

import pytest

from dedup import Deduplicator
from dedup.cli import main
from dedup.store import Page, open_store

_TEXT = " ".join(f"word{n}" for n in range(200))
_HEAD = (
    b"POST /seen HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    b"Content-Length: %d\r\n\r\n" % len(_TEXT)
)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--host", "0.0.0.0"], "give a token by --token-file"),
        (["--token-file", "short"], "at least 16 ASCII characters"),
        (["--processes", "0"], "--processes must be at least 1, got 0"),
        ([], "job not found"),
    ],
)
def test_what_cannot_be_served_is_refused(
    options: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("secret\n")
    assert main(["serve", "none", *options]) == 2
    assert why in capsys.readouterr().err


def test_without_the_extra_a_sentence_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "none"]) == 2
    assert "pip install 'scrapy-dedup[serve]'" in capsys.readouterr().err


def _is_seen(text: str) -> bool | None:
    """None: the server does not listen yet."""
    body = json.dumps({"text": text}).encode()
    request = Request("http://127.0.0.1:18765/seen", body, {"Content-Type": "application/json"})
    with suppress(OSError), urlopen(request, timeout=30) as answer:
        return bool(json.load(answer)["seen"])
    return None


@pytest.mark.slow  # starts a process
def test_a_job_is_served_while_it_is_written_until_sigterm(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        judge = Deduplicator(store=store)
        judge.add(Page(id="", text=_TEXT, url="http://a.example/"))
        store.commit()
        command = [sys.executable, "-m", "dedup.cli", "serve", str(tmp_path), "--port", "18765"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                assert "on http://127.0.0.1:18765" in server.stderr.readline()
                assert any(_is_seen(_TEXT) for _ in range(100_000))
                later = _TEXT.replace("word", "later")
                judge.add(Page(id="", text=later, url="http://a.example/later"))
                store.commit()  # the reader does not hold it up
                assert any(_is_seen(later) for _ in range(10_000))
                with create_connection(("127.0.0.1", 18765)) as asked:
                    asked.sendall(_HEAD)
                    assert _is_seen(later)  # so the head has been read
                    server.send_signal(signal.SIGTERM)
                    asked.sendall(_TEXT.encode())
                    assert asked.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"
                assert server.wait(timeout=30) == 0
                assert server.stderr.read() == ""
            finally:
                server.kill()
