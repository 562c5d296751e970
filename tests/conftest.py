"""Hypothesis for all tests; PostgreSQL and Spark for those that need a real one."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "certain",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
"""The same examples each time, however busy the machine is."""
settings.register_profile("explore", deadline=None)
"""Other ones: `pytest --hypothesis-profile=explore`."""
settings.load_profile("certain")

DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class PostgresqlServer:
    """A server of the test's own in a temporary folder, on a socket in it, not run as root.

    Args:
        like: a server that has not run; its data is copied, which takes a fifth of the time.
    """

    def __init__(self, like: PostgresqlServer | None = None) -> None:
        self._programs, self._user = _programs(), _user()
        self.folder = Path(tempfile.mkdtemp(prefix="dedup-pg-"))
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        if like is None:
            self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", "crawler", "-E", "UTF8")
        else:
            subprocess.run(["cp", "-a", like._data, self._data], check=True)

    @property
    def address(self) -> str:
        """Of its database, without the name of a job."""
        return f"postgresql://crawler@/postgres?host={self.folder}"

    def start(self) -> None:
        command = [str(self._programs / "postgres"), "-D", str(self._data), "-k", str(self.folder)]
        command += ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=32MB"]
        self._process = subprocess.Popen(
            command, user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 120
        while self._run("pg_isready", "-q", "-h", str(self.folder), check=False):
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT, its open connections too; SIGQUIT, as a crash would."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(120)
            self._process = None

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        command = [str(self._programs / program), *arguments]
        found = subprocess.run(
            command, user=self._user, check=check, stdout=subprocess.DEVNULL, cwd="/"
        )
        return found.returncode


def _programs() -> Path:
    names = ("initdb", "postgres", "pg_isready")
    found = [*DEBIAN, *map(Path, os.environ["PATH"].split(os.pathsep))]
    folders = [each for each in found if all((each / name).exists() for name in names)]
    if not folders:
        pytest.skip("PostgreSQL's server is not installed (Debian: apt install postgresql)")
    return folders[0]


def _user() -> str | None:
    """Whom the server runs as: it refuses root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("PostgreSQL's server does not run as root, and there is no user postgres")


@pytest.fixture(scope="session")
def new_postgresql() -> Iterator[PostgresqlServer]:
    """A server that has not run."""
    server = PostgresqlServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def postgresql(new_postgresql: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """A running server that the tests of a process share; each uses jobs of its own."""
    server = PostgresqlServer(new_postgresql)
    server.start()
    yield server
    server.close()


@pytest.fixture
def own_postgresql(new_postgresql: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """A server for a test that stops it."""
    server = PostgresqlServer(new_postgresql)
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="session")
def new_place(postgresql: PostgresqlServer) -> Callable[[], str]:
    """The place of a job that is not there yet."""
    numbers = count()
    return lambda: f"{postgresql.address}#job_{os.getpid()}_{next(numbers)}"


_SPARK = """
spark.ui.enabled false
spark.sql.shuffle.partitions 2
spark.driver.extraJavaOptions {java}
spark.executor.extraJavaOptions {java}
"""
_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="session")
def quick_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spark for some rows: its 200 parts and the optimising compiler take longer than a test."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(_SPARK.format(java=_QUICK_JAVA))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        patch.setenv("SPARK_DRIVER_MEMORY", "1g")  # half of the machine in each process, otherwise
        yield
