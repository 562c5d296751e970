"""Which rows are dropped: first come, in parallel.

A row is kept once no earlier duplicate of it is undecided, and dropped once one is kept. A few
rounds of this decide all but long chains in order; what is left falls into components, and each is
decided in one task.

Source: Blelloch, Fineman, Shun, Greedy sequential maximal independent set and matching are parallel
on average, SPAA 2012; components: Kiveris and others, Connected components in MapReduce and beyond,
SOCC 2014.
"""

from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.first_come import first_come
from dedup.spark.keeping import released, settled
from dedup.spark.schemas import spark_schema

ROUNDS = 8

_DROPPED = pa.schema([("number", pa.int64())])


def dropped_rows(pairs: DataFrame, *, serial_pairs: int) -> DataFrame:
    """Return the column `number` of the rows that are dropped.

    Args:
        pairs: of duplicates, `a` before `b`.
        serial_pairs: up to this number of pairs, one task decides.
    """
    undecided = settled(pairs.select("a", "b"))
    found: list[DataFrame] = []
    for _ in range(ROUNDS):
        count = undecided.count()
        if count <= serial_pairs:
            break
        later = undecided.select(F.col("b").alias("a")).distinct()
        kept = undecided.join(later, "a", "left_anti").select("a").distinct()
        now = settled(undecided.join(kept, "a", "left_semi").select("b").distinct())
        found.append(now)
        before = undecided
        undecided = settled(
            undecided.join(now, "b", "left_anti").join(now.toDF("a"), "a", "left_anti")
        )
        released(before)
    else:
        count = undecided.count()
    in_one = undecided.withColumn("component", F.lit(0))
    parted = in_one if count <= serial_pairs else _with_components(undecided)
    rest = parted.groupBy("component").applyInArrow(_solve, spark_schema(_DROPPED))
    dropped = settled(reduce(DataFrame.union, found, rest))
    released(undecided, *found)
    return dropped


def _solve(table: pa.Table) -> pa.Table:
    numbers = first_come(table.column("a").to_numpy(), table.column("b").to_numpy())
    return pa.table([pa.array(numbers)], schema=_DROPPED)


def _with_components(pairs: DataFrame) -> DataFrame:
    """Add the column `component`: the lowest row that pairs lead to."""
    stars = settled(pairs.select(F.col("b").alias("node"), F.col("a").alias("low")))
    state: object = None
    while True:
        both = stars.union(stars.select(F.col("low").alias("node"), F.col("node").alias("low")))
        before = stars
        large = _star(both).filter("low > node").select(F.col("low").alias("node"), "least")
        large = large.filter("node != least").distinct().toDF("node", "low")
        small = _star(large)
        members = small.select(F.col("low").alias("node"), "least")
        itself = small.select("node", "least")
        stars = settled(
            members.union(itself).filter("node != least").distinct().toDF("node", "low")
        )
        released(before)
        sums = stars.agg(F.count("*"), F.sum(F.hash("node", "low"))).first()
        if sums == state:
            break
        state = sums
    labels = stars.toDF("b", "component")
    return pairs.join(labels, "b")


def _star(edges: DataFrame) -> DataFrame:
    """Each edge with the least of its node and the node's neighbours."""
    least = edges.groupBy("node").agg(F.least(F.min("low"), F.first("node")).alias("least"))
    return edges.join(least, "node")
