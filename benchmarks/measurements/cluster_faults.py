"""What happens to the workers of `cluster.py`, and to their server, at random moments."""

import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

FIRST_SECONDS = 6
PAUSE_SECONDS = 3
N_REQUESTS = 60
"""Between two faults, so that they meet workers at work, and not at their start."""

FREEZE_SECONDS = 8
CUT_SECONDS = 20


class Faults:
    """Kills and freezes workers, cuts one off, and kills the server.

    Args:
        counts: how often of each: kills, freezes, cuts, restarts.
        address: of the database, with its folder of the socket as `host`.
        server: the data folder of the server.
        log: of the requests, a line each.
    """

    def __init__(
        self, counts: dict[str, int], address: str, server: Path | None, log: Path, *, seed: int
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._address, self._server, self._log = address, server, log
        self._n_requests = 0
        self._source = random.Random(seed)
        self._plan = [kind for kind, count in counts.items() for _ in range(count)]
        self._source.shuffle(self._plan)
        self._next = time.monotonic() + FIRST_SECONDS
        self._frozen: list[tuple[float, subprocess.Popen]] = []
        self._proxy = Proxy(_socket_of(address)) if counts.get("cuts") else None
        self._cut_until = 0.0

    def address_of(self, name: str) -> str:
        """Where a worker finds the server: of the first one, through the proxy."""
        if self._proxy is None or not name.endswith("-0"):
            return self._address
        return self._address.split("?")[0] + f"?host={self._proxy.folder}"

    def happen(self, running: list[subprocess.Popen]) -> None:
        """Let happen what is due; called all the time."""
        now = time.monotonic()
        for until, process in self._frozen[:]:
            if now > until:
                process.send_signal(signal.SIGCONT)
                self._frozen.remove((until, process))
        if self._proxy is not None and self._cut_until and now > self._cut_until:
            self._proxy.is_cut, self._cut_until = False, 0.0
        if not (self._plan and running and now > self._next):
            return
        n_requests = self._log.read_bytes().count(b"\n")
        if n_requests < self._n_requests + N_REQUESTS:
            return
        self._n_requests = n_requests
        kind = self._plan.pop()
        self._next = now + PAUSE_SECONDS * (0.5 + self._source.random())
        victim = running[0]  # the one that has worked for the longest time
        match kind:
            case "kills":
                victim.kill()
            case "freezes":
                victim.send_signal(signal.SIGSTOP)
                self._frozen.append((now + FREEZE_SECONDS, victim))
            case "cuts" if self._proxy is not None:
                self._proxy.is_cut, self._cut_until = True, now + CUT_SECONDS
            case "restarts":
                self._restart()
        self.counts[kind] += 1

    def close(self) -> None:
        for _, process in self._frozen:
            process.send_signal(signal.SIGCONT)
        if self._proxy is not None:
            self._proxy.close()

    def _restart(self) -> None:
        """Kill all processes of the server, as a machine that fails does; start it in 2 s."""
        folder = self._server
        if folder is None:
            raise SystemExit("--restarts needs --server")
        first = (folder / "postmaster.pid").read_text().split()[0]
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", first], capture_output=True, text=True
        )
        options = (folder / "postmaster.opts").read_text().split()
        for pid in [first, *found.stdout.split()]:
            os.kill(int(pid), signal.SIGKILL)
        command = [each.strip('"') for each in options]

        def start() -> None:
            time.sleep(2)
            (folder / "postmaster.pid").unlink(missing_ok=True)
            subprocess.Popen(
                command,
                user=folder.stat().st_uid,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )

        threading.Thread(target=start).start()


class Proxy:
    """Forwards connections to a socket; where `is_cut`, it takes bytes and forwards none."""

    def __init__(self, target: Path) -> None:
        self.is_cut = False
        self.folder = target.parent / f"proxy-{os.getpid()}"
        self.folder.mkdir(exist_ok=True)
        self._target = target
        self._path = self.folder / target.name
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        self._path.unlink(missing_ok=True)
        self.folder.rmdir()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(str(self._target))
            except OSError:
                client.close()
                continue
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                while self.is_cut:
                    time.sleep(0.05)
                target.sendall(data)
        except OSError:
            pass
        for each in (source, target):
            each.close()


def _socket_of(address: str) -> Path:
    (folder,) = parse_qs(urlsplit(address).query)["host"]
    return Path(folder) / ".s.PGSQL.5432"
