"""In which order rows are judged on Spark, by what `--keep` names."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from math import inf, nan

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.collection.rules import Rules
from dedup.collection.survivor import (
    LONGEST,
    LOWEST,
    Criterion,
    column_read,
    readings_of,
    unreadable_told,
)
from dedup.spark.keeping import sent, settled
from dedup.spark.schemas import spark_schema

_PLACE_BITS = 35
MOST_PLACES = 2**_PLACE_BITS
PLACE_MASK = MOST_PLACES - 1
"""Of a number by which a row is judged, its place."""

_LENGTH_LIMIT = 2**27
_MOST_RANKED = 2**28

_RANKED = pa.schema([("place", pa.int64()), ("rank", pa.int64())])
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean")
_DAY_SECONDS = 86_400


def in_judging_order(
    given: DataFrame, rows: DataFrame, rules: Rules
) -> tuple[DataFrame, list[str]]:
    """Number documents in the order in which they are judged: `number` beside `place`.

    Args:
        given: see `as_given`.
        rows: of each place, `readings`, see `readings_column`.
        rules: say which rows are preferred.

    Returns:
        The documents, and sentences on values that could not be read.

    Raises:
        ValueError: a column has values, and none can be read; or there are too many rows.
    """
    place = F.col("place").cast("bigint")
    if not rules.criteria:
        return given.withColumn("number", place), []
    if [each.word for each in rules.criteria] == [LONGEST]:
        shorter = F.lit(_LENGTH_LIMIT) - _length().cast("bigint")
        return given.withColumn("number", _packed(shorter, place)), []
    scores, told = _scores(given, rows, rules.criteria)
    numbered = given.join(sent(_ranks(scores, len(rules.criteria))), "place")
    return numbered.withColumn("number", _packed(F.col("rank"), place)).drop("rank"), told


def _packed(rank: Column, place: Column) -> Column:
    return F.shiftleft(rank, _PLACE_BITS).bitwiseOR(place)


def _length() -> Column:
    return F.coalesce(F.length("text"), F.lit(0))


def _scores(
    given: DataFrame, rows: DataFrame, criteria: Sequence[Criterion]
) -> tuple[DataFrame, list[str]]:
    """Of each document a number for each criterion, `s0` and so on; the greatest is preferred."""
    known = given.select("place", _length().cast("double").alias("length"))
    scored = settled(known.join(rows.select("place", "readings"), "place"))
    columns = [each for each in criteria if each.column is not None]
    # Of each column of a criterion three figures: is there a value, as a number, and as a time?
    counts = [
        F.sum(F.when(F.col("readings")[n] > 0, 1).otherwise(0))
        if n % 3 == 0
        else F.sum(F.when(F.isnan(F.col("readings")[n]), 0).otherwise(1))
        for n in range(3 * len(columns))
    ]
    found = [each or 0 for each in (scored.agg(*counts).first() or ()) if counts]
    told, scores = [], []
    for criterion in criteria:
        score = F.col("length")
        if criterion.column is not None:
            at = 3 * columns.index(criterion)
            read = column_read(criterion, *found[at : at + 3])
            if read.unreadable:
                told.append(unreadable_told(criterion, read))
            value = F.col("readings")[at + 1 + read.as_times]
            value = -value if criterion.word == LOWEST else value
            score = F.when(F.isnan(value), -inf).otherwise(F.when(value == 0, 0.0).otherwise(value))
        scores.append(score.alias(f"s{len(scores)}"))
    return scored.select("place", *scores), told


def _ranks(scores: DataFrame, n_scores: int) -> DataFrame:
    """The rank of each place, from 0: sorted in parallel, then counted on from part to part.

    Raises:
        ValueError: there are too many rows.
    """
    order = [F.col(f"s{number}").desc() for number in range(n_scores)]
    ordered = settled(scores.orderBy(*order, "place").select("place"))
    counted = ordered.groupBy(F.spark_partition_id().alias("part")).count().collect()
    counts = {row[0]: row[1] for row in counted}
    ends = list(accumulate((counts[part] for part in sorted(counts)), initial=0))
    if ends[-1] > _MOST_RANKED:
        raise ValueError(
            f"--keep must be first or longest for more than {_MOST_RANKED:,} rows on Spark, got"
            f" {ends[-1]:,}"
        )
    starts = dict(zip(sorted(counts), ends, strict=False))
    return ordered.mapInArrow(partial(_ranked, starts=starts), spark_schema(_RANKED))


def _ranked(
    batches: Iterator[pa.RecordBatch], starts: Mapping[int, int]
) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    next_rank = starts.get(0 if context is None else context.partitionId(), 0)
    for batch in batches:
        ranks = np.arange(next_rank, next_rank + len(batch))
        next_rank += len(batch)
        yield pa.record_batch([batch.column("place"), pa.array(ranks, pa.int64())], _RANKED)


def readings_column(frame: DataFrame, criteria: Sequence[Criterion]) -> Column:
    """What `readings_of` gives for the column of each criterion, one after the other."""
    kinds = dict(frame.dtypes)
    parts = [_readings(each.column, kinds[each.column]) for each in criteria if each.column]
    return F.flatten(F.array(*parts)) if parts else F.array().cast("array<double>")


def _readings(name: str, kind: str) -> Column:
    value = F.col(f"`{name}`")
    if kind == "string":
        return _of_text(value)
    none, number, time = F.lit(nan), F.lit(nan), F.lit(nan)
    if kind in _NUMBERS or kind.startswith("decimal"):
        number = value.cast("double")
    elif kind == "date":
        time = F.datediff(value, F.lit("1970-01-01").cast("date")) * F.lit(float(_DAY_SECONDS))
    elif kind == "timestamp":
        time = F.unix_micros(value) / F.lit(1e6)
    elif kind == "timestamp_ntz":
        since = f"timestampdiff(MICROSECOND, timestamp_ntz'1970-01-01 00:00:00', `{name}`)"
        time = F.expr(since) / F.lit(1e6)
    is_given = value.isNotNull() if kind not in ("float", "double") else ~_is_nan(value)
    return F.array(is_given.cast("double"), F.coalesce(number, none), F.coalesce(time, none))


def _is_nan(value: Column) -> Column:
    return value.isNull() | F.isnan(value)


@F.udf("array<double>")
def _of_text(text: str | None) -> list[float]:
    return [float(each) for each in readings_of(text)]
