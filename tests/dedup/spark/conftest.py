"""What makes runs on Spark quick: few parts, a plain compiler, one session for several runs."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def all_are_quick(quick_spark: None) -> None:
    """Also the runs of commands, which make their sessions themselves."""


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
