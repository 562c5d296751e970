"""A collection on Spark and on one machine, for a comparison of all that is told of its rows."""

import random
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import dedup
from dedup.spark import deduplicate
from dedup.spark.engine import Engine

TABLE = "id bigint, text string, url string, title string, `group` string"
MARKS = ("id", "duplicate_of", "stage", "resemblance", "group")


def told(rows: list[dict[str, Any]]) -> dict[int, tuple[Any, ...]]:
    return {row["id"]: tuple(row[name] for name in MARKS) for row in rows}


def on_one_machine(rows: list[dict[str, Any]], **options: Any) -> dict[int, tuple[Any, ...]]:
    table = pa.Table.from_pylist(rows)
    return told(dedup.deduplicate(table, id="id", url="url", title="title", **options).to_pylist())


def on_spark(frame: DataFrame, engine: Engine, **options: Any) -> dict[int, tuple[Any, ...]]:
    found = deduplicate(
        frame, order="id", url="url", title="title", engine=engine, **options
    ).select(*MARKS)
    return told([row.asDict() for row in found.collect()])


def frame_of(session: SparkSession, rows: list[dict[str, Any]], partitions: int) -> DataFrame:
    shuffled = random.Random(partitions).sample(rows, len(rows))
    return session.createDataFrame(shuffled, TABLE).repartition(partitions)
