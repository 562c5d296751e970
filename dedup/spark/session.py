"""A session of Spark for the command line."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

_LEAST_JAVA = 17
_ROWS_A_BATCH = 512
"""Rows that go to Python at once; they may be long."""


def open_session(master: str | None) -> SparkSession:
    """Open a session, or reuse the existing one.

    Args:
        master: where it runs; None: as Spark's own configuration says, or else on this machine.

    Raises:
        OSError: there is no Java.
    """
    require_java()
    builder = SparkSession.builder.appName("dedup")
    if master is not None:
        builder = builder.master(master)
    elif "SPARK_MASTER" not in os.environ and "SPARK_CONF_DIR" not in os.environ:
        builder = builder.config("spark.master", "local[*]")
    if (master or "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Spark's own default, 1 GB, does not do for a million rows. Its configuration goes before.
        os.environ.setdefault("SPARK_DRIVER_MEMORY", f"{memory_bytes() // 2 >> 20}m")
    session = (
        builder.config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "FATAL")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(_ROWS_A_BATCH))
        # Files of shuffles go when the JVM has noticed that nobody needs them; by default it looks
        # twice an hour.
        .config("spark.cleaner.periodicGC.interval", "3min")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("FATAL")
    return session


def memory_bytes(limit: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """The memory of this machine, or of the container."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # "max": there is no limit
        memory = min(memory, int(limit.read_text()))
    return memory


def require_java() -> None:
    """Check that there is a Java that Spark can run on.

    Raises:
        OSError: there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    remedy = (
        "on Debian run `apt-get install openjdk-17-jre-headless`; to use another, set JAVA_HOME"
    )
    if java is None or not Path(java).is_file():
        where = f"JAVA_HOME is {home!r}, which has no Java" if home else "none was found"
        raise OSError(f"Spark needs Java {_LEAST_JAVA} or later, and {where}; {remedy}")
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603 -- found above
    words = done.stderr.split('"')
    version = words[1].split(".")[0].split("-")[0] if len(words) > 1 else ""
    if version.isdecimal() and int(version) < _LEAST_JAVA:
        raise OSError(f"Spark needs Java {_LEAST_JAVA} or later, found {words[1]}; {remedy}")


def sentence_of(error: Exception) -> str | None:
    """What Spark says is wrong, without its plans and traces; None: it is not Spark's."""
    if not isinstance(error, PySparkException | Py4JError):
        return None
    text = str(error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else error)
    if _LOST in text:
        return (
            "Spark: an executor was lost with intermediate results; with spark.checkpoint.dir they"
            " are kept elsewhere"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if _PYTHON_ERROR.match(line)), None)
    return f"Spark: {last or (lines or ['it failed'])[0]}"


_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"
"""Spark's name of what it says where a frame was `settled` on an executor."""

_PYTHON_ERROR = re.compile(r"(?!pyspark|java|org)[A-Za-z_][\w.]*(?:Error|Exception|Exit)(?::|$)")
"""The last line of a trace of Python, of what goes wrong in tasks."""
