"""Passages of a collection on Spark: as on one machine, by windows in parts of their hashes."""

from functools import partial
from math import ceil
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.passages import (
    BLOCKS,
    CHANGED,
    DIGESTS,
    FOUND,
    REPEATED,
    STRETCHES,
    blocks,
    changed_lines,
    digests,
    passages_in,
    repeated_in,
    stretches_in,
)
from dedup.collection.passages import PASSAGES, PassageCounts
from dedup.spark.keeping import released, sent, settled
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


class PassagesFound(NamedTuple):
    """The passages of the rows that stay.

    Attributes:
        searched: the places of the rows whose texts are written.
        found: what is `FOUND`.
    """

    searched: DataFrame
    found: DataFrame
    counts: PassageCounts

    def dropped(self) -> DataFrame:
        """The rows of which no word is left, as what was found of duplicates."""
        return self.found.filter("rest is null").select(
            "place",
            F.col("main").alias("original"),
            F.lit(PASSAGES).alias("stage"),
            F.lit(None).cast("int").alias("distance"),
            F.lit(None).cast("double").alias("resemblance"),
        )

    def cut(self, rows: DataFrame, text: str, *, is_parquet: bool) -> DataFrame:
        """Rows, `place` and `value`, without their passages; `text` is the column."""
        changed = rows.join(self.found.select("place", "rest"), "place", "left")
        if is_parquet:
            value = F.col("value")
            cut = value.withField(f"`{text}`", F.coalesce("rest", value.getField(text)))
            return changed.withColumn("value", F.when(F.isnull("rest"), value).otherwise(cut))
        kernel = partial(changed_lines, name=text)
        return changed.select(*CHANGED.names).mapInArrow(kernel, spark_schema(CHANGED))

    def listed(self, rows: DataFrame, names: DataFrame) -> DataFrame:
        """Rows with their passages as JSON; null where a row was not searched.

        Args:
            rows: with `place`.
            names: `place` and `name`, which is JSON, of all rows.
        """
        every = self.searched.join(_listed(self.found, names), "place", "left")
        return rows.join(every.fillna("[]", [PASSAGES]), "place", "left")

    def release(self) -> None:
        released(self.searched, self.found)


def search(given: DataFrame, dropped: DataFrame, width: int, *, has_markup: bool) -> PassagesFound:
    """Find the passages of the rows that stay and whose texts are written.

    Args:
        given: all documents, `GIVEN` and `place`.
        dropped: the places of those that do not stay.
        width: the number of words, or characters, of the shortest passage.
        has_markup: do some of the texts come from markup?
    """
    kept = given.join(sent(dropped.select("place")), "place", "left_anti")
    is_written = F.col("source").isNull() | F.col("body").isNotNull()
    searched = kept.filter(is_written).select("place", "text")
    found = find_passages(searched, width)
    row = found.agg(F.sum(F.size("starts")), F.sum("characters")).first() or (0, 0)
    counts = PassageCounts(row[0] or 0, row[1] or 0)
    if has_markup:
        counts.not_searched = kept.filter(~is_written).count()
    return PassagesFound(settled(searched.select("place")), found, counts)


def _listed(found: DataFrame, names: DataFrame) -> DataFrame:
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
