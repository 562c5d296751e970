"""Passages of a collection on Spark: as on one machine, by windows in parts of their hashes."""

from functools import partial
from math import ceil

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.passages import (
    BLOCKS,
    DIGESTS,
    FOUND,
    REPEATED,
    STRETCHES,
    blocks,
    digests,
    passages_in,
    repeated_in,
    stretches_in,
)
from dedup.collection.passages import PASSAGES, PassageCounts
from dedup.spark.keeping import released, settled
from dedup.spark.schemas import spark_schema

_CHARACTERS_IN_PART = 1 << 22
"""As many windows at most, 64 MB, go to a task."""


def find_passages(texts: DataFrame, width: int) -> DataFrame:
    """Return what is `FOUND`, settled.

    Args:
        texts: `place` and `text` of the rows that are searched.
        width: the number of words, or characters, of the shortest passage.
    """
    total = texts.agg(F.sum(F.length("text"))).first()
    size = (0 if total is None else total[0] or 0) / _CHARACTERS_IN_PART
    parts = max(2 * texts.sparkSession.sparkContext.defaultParallelism, ceil(size))
    stretches = settled(_stretches(texts, width, parts))
    text = texts.toDF("source_place", "text")
    pair = F.collect_set(F.struct("source", "n_windows")).alias("pairs")
    wanted = stretches.groupBy("source_place").agg(pair).join(text, "source_place")
    digested = wanted.select(
        "text", F.col("pairs.source").alias("sources"), F.col("pairs.n_windows").alias("counts")
    ).mapInArrow(partial(digests, width=width), spark_schema(DIGESTS))
    one = F.struct("start", "n_windows", "source", "digest")
    proposed = stretches.join(digested, ["source", "n_windows"])
    of_rows = proposed.groupBy("place").agg(F.collect_list(one).alias("stretches"))
    kernel = partial(passages_in, width=width)
    found = settled(of_rows.join(texts, "place").mapInArrow(kernel, spark_schema(FOUND)))
    released(stretches)
    return found


def _stretches(texts: DataFrame, width: int, parts: int) -> DataFrame:
    hashed = texts.mapInArrow(partial(blocks, width=width, parts=parts), spark_schema(BLOCKS))
    repeated = hashed.groupBy("part").applyInArrow(
        lambda table: repeated_in(table, width, parts), spark_schema(REPEATED)
    )
    return repeated.groupBy("part").applyInArrow(stretches_in, spark_schema(STRETCHES))


def counts_of(found: DataFrame) -> PassageCounts:
    """How much was found."""
    row = found.agg(F.sum(F.size("starts")), F.sum("characters")).first() or (0, 0)
    return PassageCounts(row[0] or 0, row[1] or 0)


def dropped_by_passages(found: DataFrame) -> DataFrame:
    """The rows of which no word is left, as what was found of duplicates."""
    return found.filter("rest is null").select(
        "place",
        F.col("main").alias("original"),
        F.lit(PASSAGES).alias("stage"),
        F.lit(None).cast("int").alias("distance"),
        F.lit(None).cast("double").alias("resemblance"),
    )


def listed_passages(found: DataFrame, names: DataFrame) -> DataFrame:
    """The passages of each row as JSON: `place` and `passages`.

    Args:
        found: what is `FOUND`.
        names: `place` and `name`, which is JSON, of all rows.
    """
    zipped = F.arrays_zip("starts", "ends", "sources")
    each = found.select("place", F.posexplode(zipped).alias("at", "passage"))
    source = names.select(F.col("place").alias("source"), "name")
    named = each.withColumn("source", F.col("passage.sources")).join(source, "source")
    text = F.format_string(
        "[%d, %d, %s]", F.col("passage.starts"), F.col("passage.ends"), F.col("name")
    )
    ordered = F.array_sort(F.collect_list(F.struct("at", text.alias("text"))))
    joined = F.concat(F.lit("["), F.array_join(ordered.getField("text"), ", "), F.lit("]"))
    return named.groupBy("place").agg(joined.alias(PASSAGES))
