"""The stages of a run on Spark: keys, pairs, verdicts, who stays, and originals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.pairing import PAIRED, paired
from dedup.arrow.signing import SIGNED, signed
from dedup.arrow.verifying import COMPARED, TOKENS, VERIFIED, comparable, tokens, verified
from dedup.collection.rules import Rules
from dedup.detectors import EXACT_STAGES, STAGES
from dedup.sites.site import Site
from dedup.spark.rounds import dropped_rows, settled
from dedup.spark.schemas import spark_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Finds duplicates.

    Attributes:
        rules: the stages, and the threshold.
        large_bucket: buckets of more rows are split by the tokens of prefixes before rows are
            paired. Changes no answer. 1,000 rows are half a million pairs.
        serial_pairs: of fewer duplicate pairs, one task decides who stays. Changes no answer. A
            million take one task a second, and a round of Spark several.
        on_stage: is called with the name of each stage before it is computed.
        known: what was learned of the hosts of each collection.
    """

    rules: Rules
    large_bucket: int = 1_000
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
        lowest = keyed.groupBy("digest").agg(F.min("number").alias("first"))
        firsts = keyed.join(lowest.select(F.col("first").alias("number")), "number", "left_semi")
        copies = (
            keyed.select("number", "digest", "exact_stage")
            .join(lowest, "digest")
            .filter("number > first")
            .select("number", "first", "exact_stage")
        )
        self.on_stage("candidate pairs")
        pairs = settled(self._pairs(firsts, given))
        self.on_stage("verification")
        edges = settled(self._edges(pairs, given))
        self.on_stage("who stays")
        drops = edges.filter("drops_later")
        dropped = dropped_rows(drops, serial_pairs=self.serial_pairs)
        self.on_stage("originals")
        return settled(_originals(edges, dropped, copies))

    def _pairs(self, firsts: DataFrame, given: DataFrame) -> DataFrame:
        keys = firsts.select("number", "size", "fingerprint", F.explode("keys").alias("key"))
        counts = keys.groupBy("key").count()
        is_near = F.shiftrightunsigned("key", 61) >= len(EXACT_STAGES)
        large = settled(counts.filter((F.col("count") > self.large_bucket) & is_near).select("key"))
        pair = partial(paired, rules=self.rules)
        if not large.count():
            found = _mapped(_buckets(keys, "key"), pair, PAIRED)
        else:
            small = keys.join(large, "key", "left_anti")
            members = keys.join(large, "key")
            rows = given.join(members.select("number").distinct(), "number", "left_semi")
            compared = _mapped(rows, comparable, COMPARED)
            split = _mapped(compared, partial(tokens, rules=self.rules), TOKENS)
            parted = members.join(
                split.select("number", F.explode("tokens").alias("token")), "number"
            )
            found = _mapped(_buckets(small, "key"), pair, PAIRED).union(
                _mapped(_buckets(parted, "key", "token"), pair, PAIRED)
            )
        stages, distance = F.bit_or("stages").alias("stages"), F.min("distance").alias("distance")
        return found.groupBy("a", "b").agg(stages, distance)

    def _edges(self, pairs: DataFrame, given: DataFrame) -> DataFrame:
        both = pairs.select(F.col("a").alias("number")).union(pairs.select("b")).distinct()
        compared = settled(_mapped(given.join(both, "number", "left_semi"), comparable, COMPARED))
        joined = pairs
        for side in ("a", "b"):
            named = [F.col(name).alias(f"{side}_{name}") for name in COMPARED.names[1:]]
            joined = joined.join(compared.select(F.col("number").alias(side), *named), side)
        return _mapped(joined, partial(verified, rules=self.rules, known=self.known), VERIFIED)


_Kernel = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _mapped(frame: DataFrame, kernel: _Kernel, schema: pa.Schema) -> DataFrame:
    return frame.mapInArrow(kernel, spark_schema(schema))


def _buckets(keys: DataFrame, *by: str) -> DataFrame:
    row = F.struct("number", "size", "fingerprint")
    found = keys.groupBy(*by).agg(F.collect_list(row).alias("rows")).filter(F.size("rows") > 1)
    return found.select(
        "key",
        F.col("rows.number").alias("numbers"),
        F.col("rows.size").alias("sizes"),
        F.col("rows.fingerprint").alias("fingerprints"),
    )


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
