"""What makes runs on Spark quick: small shuffles, and one session for several runs."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def few_parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Spark's own 200 parts, of some rows each, take most of the time of a test."""
    folder: Path = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text(
        "spark.sql.shuffle.partitions 2\nspark.ui.enabled false\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        yield


@pytest.fixture(scope="module")
def one_session() -> Iterator[None]:
    """Sessions are not stopped until the last test: starting one takes longer than a test."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSession, "stop", lambda _: None)
        yield
    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2, 3]")  # a task is tried three times
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "FATAL")
        .getOrCreate()
    )
    yield session
    session.stop()
