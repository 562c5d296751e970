"""Evaluation sets on Spark: their rows go to the driver, and from there to each task."""

import json
from collections.abc import Iterator
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.passages import KNOWN, known_in
from dedup.collection.evaluation import CONTAINS, Evaluation, Named
from dedup.spark.keeping import released, settled
from dedup.spark.schemas import spark_schema


def evaluation_rows(given: DataFrame, names: DataFrame) -> Iterator[Named]:
    """The rows of an evaluation set, in their order.

    Args:
        given: `place`, `url` and `text`.
        names: `place` and `name`, which is JSON.
    """
    rows = given.select("place", "url", "text").join(names.select("place", "name"), "place")
    for row in rows.orderBy("place").collect():
        yield json.loads(row["name"]), row["url"] or None, row["text"]


def rows_that_contain(given: DataFrame, evaluation: Evaluation) -> DataFrame:
    """The rows, `place` and `text`, that hold a passage: settled."""
    kernel = partial(known_in, known=evaluation.passages)
    held = settled(given.select("place", "text").mapInArrow(kernel, spark_schema(KNOWN)))
    numbers = sorted(row[0] for row in held.select("known").distinct().collect())
    labels = [
        (number, json.dumps(name, default=str, ensure_ascii=False), url)
        for number in numbers
        for name, url in [evaluation.label(number)]
    ]
    label = given.sparkSession.createDataFrame(
        labels, "known bigint, duplicate_of string, duplicate_of_url string"
    )
    named = held.join(F.broadcast(label), "known").select(
        "place",
        F.col("known").alias("original"),
        F.lit(CONTAINS).alias("stage"),
        F.lit(None).cast("int").alias("distance"),
        F.lit(None).cast("double").alias("resemblance"),
        "duplicate_of",
        "duplicate_of_url",
    )
    found = settled(named)
    released(held)
    return found
