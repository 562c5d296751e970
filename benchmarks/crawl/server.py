"""nginx on loopback for a folder, and its log: what was asked for, and what came of it."""

import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import unquote

_CONFIG = """\
daemon off;
master_process off;
pid nginx.pid;
error_log error.log warn;
events {{ worker_connections 512; }}
http {{
    types {{
        text/html html htm;
        text/plain txt;
        text/css css;
        application/javascript js;
        image/png png;
        image/svg+xml svg;
    }}
    log_format answers '$msec\\t$status\\t$sent_http_content_type\\t$request_uri';
    access_log answers.log answers;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    sendfile on;
    server {{
        listen 127.0.0.1:{port};
        root {root};
        autoindex on;
    }}
}}
"""
_START_SECONDS = 10


class Answer(NamedTuple):
    seconds: float
    """When, since 1970."""
    status: int
    content_type: str
    target: str
    """Path and query as they were asked for."""

    @property
    def path(self) -> str:
        """Path and query with escapes decoded: two spellings of one are the same."""
        return unquote(self.target)

    @property
    def is_page(self) -> bool:
        return self.status == 200 and self.content_type.startswith("text/html")


class Nginx:
    """Serves `root`, with listings of folders, while the `with` block runs.

    Args:
        root: the folder to serve.
        scratch: a folder for its configuration and log.

    Raises:
        ValueError: nginx is not installed, cannot start, or cannot be told this path.
    """

    def __init__(self, root: Path, scratch: Path) -> None:
        self._program = find_nginx()
        self._scratch = scratch
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}/"
        config = _CONFIG.format(port=self._port, root=_quoted(root.resolve()))
        (scratch / "nginx.conf").write_text(config, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def version() -> str:
        """Such as 1.22.1.

        Raises:
            ValueError: nginx is not installed.
        """
        told = subprocess.run([find_nginx(), "-v"], capture_output=True, text=True, check=False)  # noqa: S603 -- a fixed command
        return told.stderr.strip().rpartition("/")[2] or "unknown"

    def answers(self) -> list[Answer]:
        """What was answered since the last call, in its order."""
        lines = self._log.read().splitlines()
        return [_answer(line) for line in lines]

    def __enter__(self) -> Self:
        command = [self._program, "-p", f"{self._scratch}/", "-c", "nginx.conf", "-e", "error.log"]
        self._process = subprocess.Popen(  # noqa: S603 -- a fixed command
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._wait_until_open()
            self._log = (self._scratch / "answers.log").open(encoding="utf-8", errors="replace")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._log.close()
        self._stop()

    def _wait_until_open(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while self._process is not None and self._process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        path = self._scratch / "error.log"
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        raise ValueError(f"nginx did not start: {lines[-1] if lines else 'it gave no reason'}")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


def find_nginx() -> str:
    """The path of the program.

    Raises:
        ValueError: it is not installed.
    """
    # Debian keeps it where the PATH of ordinary users does not lead.
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise ValueError(
            "nginx is not installed: install the package nginx-light (Debian) or nginx"
        )
    return program


def _answer(line: str) -> Answer:
    seconds, status, content_type, target = line.split("\t", 3)
    return Answer(float(seconds), int(status), content_type, target)


def _quoted(path: Path) -> str:
    text = str(path)
    if any(character in text for character in '"\\$\n'):
        raise ValueError(f"a site's folder must have no \", \\ or $ in its path, got {text!r}")
    return f'"{text}"'


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port
