"""The stages of a run on Spark: keys, pairs, verdicts, who stays, and originals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil, sqrt

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.pairing import PAIRED, paired
from dedup.arrow.scattering import SCATTERED, scattered
from dedup.arrow.signing import SIGNED, signed
from dedup.arrow.verifying import COMPARED, VERIFIED, comparable, verified
from dedup.collection.rules import Rules
from dedup.detectors import STAGES
from dedup.sites.site import Site
from dedup.spark.keeping import released, sent, settled
from dedup.spark.rounds import dropped_rows
from dedup.spark.schemas import spark_schema

_KEYS_IN_PART = 1 << 21
"""A row's sketches go once to each partition of buckets: the fewer, the less is shuffled. So many
keys and sketches take a task 500 MB."""

_BYTES_IN_PART = 1 << 26
"""Of shingles that a task compares."""

_SAMPLE = 16
"""Of so many rows, one is asked which buckets are large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Finds duplicates.

    Attributes:
        rules: the stages, and the threshold.
        bucket_pairs: a bucket of more pairs is split between tasks. Changes no answer. A million
            take .2 seconds.
        compared_pairs: of rows that are compared with each other, the pairs of a task. Changes no
            answer. A hundred thousand take two seconds; with fewer, the rows of a large group go to
            more tasks.
        serial_pairs: of fewer duplicate pairs, one task decides who stays. Changes no answer. A
            million take one task a second, and a round of Spark several.
        on_stage: is called with the name of each stage before it is computed.
        known: what was learned of the hosts of each collection.
    """

    rules: Rules
    bucket_pairs: int = 1_000_000
    compared_pairs: int = 100_000
    serial_pairs: int = 1_000_000
    on_stage: Callable[[str], object] = field(default=lambda _: None)
    known: Sequence[Mapping[str, Site]] = ()

    def duplicates(self, given: DataFrame) -> DataFrame:
        """Return the rows that are dropped.

        The columns are `number`, `original`, `stage` (a place in `STAGES`), `distance` and
        `resemblance`.

        Args:
            given: what `batches.GIVEN` says. Numbers must be the same when a part of it is computed
                a second time.
        """
        self.on_stage("signatures")
        keyed = settled(_mapped(given, partial(signed, rules=self.rules), SIGNED))
        copies = settled(_copies(keyed))
        self.on_stage("candidate pairs")
        pairs = settled(self._pairs(keyed, copies))
        (shingles,) = _numbers(keyed.agg(F.avg("size")))
        released(keyed)
        self.on_stage("verification")
        edges = self._edges(pairs, given, row_bytes=8 * shingles)
        released(pairs)
        self.on_stage("who stays")
        drops = edges.filter("drops_later")
        dropped = dropped_rows(drops, serial_pairs=self.serial_pairs)
        self.on_stage("originals")
        found = settled(_originals(edges, dropped, copies))
        released(edges, dropped, copies)
        return found

    def _pairs(self, keyed: DataFrame, copies: DataFrame) -> DataFrame:
        """The pairs of rows that share a key, and that no sketches rule out."""
        firsts = keyed.join(sent(copies.select("number")), "number", "left_anti")
        (n_keys,) = _numbers(firsts.agg(F.sum(F.size("keys"))))
        parts = _parts(keyed, n_keys / _KEYS_IN_PART)
        kernel = partial(scattered, parts=parts, large=self._large(firsts))
        blocks = _mapped(firsts, kernel, SCATTERED)
        rules = self.rules
        found = blocks.groupBy("part").applyInArrow(
            lambda table: paired(table, rules), spark_schema(PAIRED)
        )
        stages, distance = F.bit_or("stages").alias("stages"), F.min("distance").alias("distance")
        return found.groupBy("a", "b").agg(stages, distance)

    def _large(self, firsts: DataFrame) -> dict[int, int]:
        """Which buckets are split, and into how many blocks of rows; by a sample of rows."""
        rows_in_cell = sqrt(2 * self.bucket_pairs)
        sample = firsts.filter(F.pmod(F.xxhash64("number"), F.lit(_SAMPLE)) == 0)
        counts = sample.select(F.explode("keys").alias("key")).groupBy("key").count()
        found = counts.filter(F.col("count") > 2 * rows_in_cell / _SAMPLE).collect()
        return {key: ceil(count * _SAMPLE / rows_in_cell) for key, count in found}

    def _edges(self, pairs: DataFrame, given: DataFrame, *, row_bytes: float) -> DataFrame:
        """The pairs that are duplicates: each task gets pairs, and what is compared of their rows.

        Pairs with the same lowest row nearby go to one task, so that few rows go to several.
        """
        a, b = F.col("a").alias("number"), F.col("b").alias("number")
        numbers = settled(pairs.select(a).union(pairs.select(b)).distinct())
        size = max(
            numbers.count() * row_bytes / _BYTES_IN_PART, pairs.count() / self.compared_pairs
        )
        tasks = settled(self._tasks(pairs, _parts(pairs, size)))
        task = F.col("task").alias("task")  # another one than that of the pairs
        places = settled(tasks.select(a, task).union(tasks.select(b, task)).distinct())
        rows = given.join(sent(numbers), "number", "left_semi")
        compared = _mapped(rows, comparable, COMPARED).join(sent(places), "number")
        rules, known = self.rules, self.known
        both = tasks.groupBy("task").cogroup(compared.groupBy("task"))
        edges = settled(
            both.applyInArrow(
                lambda pairs, rows: verified(pairs, rows, rules, known), spark_schema(VERIFIED)
            )
        )
        released(numbers, tasks, places)
        return edges

    def _tasks(self, pairs: DataFrame, n_tasks: int) -> DataFrame:
        """Part pairs between tasks: a group in one, or in several where it has many pairs."""
        lowest = pairs.groupBy("b").agg(F.min("a").alias("low")).withColumnRenamed("b", "a")
        grouped = pairs.join(lowest, "a", "left").withColumn("low", F.coalesce("low", "a"))
        counts = grouped.groupBy("low").count()
        large = counts.filter(F.col("count") > self.compared_pairs)
        blocks = F.ceil(F.sqrt(F.col("count") * 2 / self.compared_pairs)).alias("blocks")
        found = grouped.join(F.broadcast(large.select("low", blocks)), "low", "left")
        one, other = (
            F.pmod(F.xxhash64(side), F.coalesce("blocks", F.lit(1))) for side in ("a", "b")
        )
        cell = F.xxhash64("low", F.least(one, other), F.greatest(one, other))
        return found.select(
            "a", "b", "stages", "distance", F.pmod(cell, F.lit(n_tasks)).cast("int").alias("task")
        )


_Kernel = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _mapped(frame: DataFrame, kernel: _Kernel, schema: pa.Schema) -> DataFrame:
    return frame.mapInArrow(kernel, spark_schema(schema))


def _numbers(frame: DataFrame) -> list[float]:
    """The figures of a frame of one row; 0 for those of no rows."""
    return [each or 0 for each in frame.first() or ()]


def _parts(frame: DataFrame, wanted: float) -> int:
    """How many parts to cut work into: as many as wanted, and some for each processor."""
    processors: int = frame.sparkSession.sparkContext.defaultParallelism
    return max(2 * processors, ceil(wanted))


def _copies(keyed: DataFrame) -> DataFrame:
    """Rows that share a digest with an earlier row, `first`."""
    first = F.min("number").over(Window.partitionBy("digest")).alias("first")
    return keyed.select("number", "exact_stage", first).filter("number > first")


def _originals(edges: DataFrame, dropped: DataFrame, copies: DataFrame) -> DataFrame:
    """The original of each dropped row.

    Of the earlier rows that stay and duplicate it, the one of the first stage, then of the greatest
    resemblance, then the first.

    A copy of a row that stays is found by that; a copy of one that is dropped may have nearer
    originals, for more rows were there when it came.
    """
    is_dropped = dropped.select(F.col("number").alias("first"))
    of_kept = copies.join(is_dropped, "first", "left_anti").select(
        "number",
        F.col("first").alias("original"),
        F.col("exact_stage").cast("int").alias("stage"),
        F.when(F.col("exact_stage") == STAGES.index("simhash"), 0).alias("distance"),
        F.lit(1.0).alias("resemblance"),
    )
    verdict = ("stage", "distance", "resemblance")
    later = edges.filter("drops_later").select(
        F.col("b").alias("first"), F.col("a").alias("original"), *verdict
    )
    earlier = edges.filter("drops_earlier").select(
        F.col("a").alias("first"), F.col("b").alias("original"), *verdict
    )
    around = later.union(earlier)
    around = around.join(is_dropped, "first", "left_semi").join(
        dropped.select(F.col("number").alias("original")), "original", "left_anti"
    )
    rows = is_dropped.select(F.col("first").alias("number"), "first").union(
        copies.select("number", "first")
        .join(is_dropped, "first", "left_semi")
        .select("number", "first")
    )
    best = F.min(
        F.struct("stage", (-F.col("resemblance")).alias("unlike"), "original", "distance")
    ).alias("best")
    found = rows.join(around, "first").filter("original < number").groupBy("number").agg(best)
    of_dropped = found.select(
        "number",
        F.col("best.original").alias("original"),
        F.col("best.stage").cast("int").alias("stage"),
        F.col("best.distance").alias("distance"),
        (-F.col("best.unlike")).alias("resemblance"),
    )
    return of_kept.union(of_dropped)
