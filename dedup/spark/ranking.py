"""In which order rows are judged on Spark, by what `--keep` names."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from math import inf, nan
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it
from pyspark.sql.types import ArrayType, DoubleType

from dedup.collection.rules import Rules
from dedup.collection.survivor import (
    LONGEST,
    LOWEST,
    Criterion,
    column_read,
    readings_of,
    unreadable_told,
)
from dedup.spark.keeping import released, sent, settled
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


class Ordered(NamedTuple):
    """Documents with the numbers by which they are judged.

    Attributes:
        given: `GIVEN`, and `place`.
        told: sentences on values that could not be read.
        kept: settled frames that the documents depend on.
    """

    given: DataFrame
    told: tuple[str, ...] = ()
    kept: tuple[DataFrame, ...] = ()


def in_judging_order(given: DataFrame, rows: DataFrame, rules: Rules) -> Ordered:
    """Number documents in the order in which they are judged: `number` beside `place`.

    Args:
        given: see `as_given`.
        rows: of each place, `readings`, see `readings_column`.
        rules: say which rows are preferred.

    Raises:
        ValueError: a column has values, and none can be read; or there are too many rows.
    """
    place = F.col("place").cast("bigint")
    if not rules.criteria:
        return Ordered(given.withColumn("number", place))
    if [each.word for each in rules.criteria] == [LONGEST]:
        shorter = F.lit(_LENGTH_LIMIT) - _length().cast("bigint")
        return Ordered(given.withColumn("number", _packed(shorter, place)))
    known = given.select("place", _length().cast("double").alias("length"))
    read = settled(known.join(rows.select("place", "readings"), "place"))
    scores, told = _scores(read, rules.criteria)
    order = [score.desc() for score in scores]
    ordered = settled(read.orderBy(*order, "place").select("place"))
    released(read)
    numbered = given.join(sent(_ranks(ordered)), "place")
    number = _packed(F.col("rank"), place)
    return Ordered(numbered.withColumn("number", number).drop("rank"), tuple(told), (ordered,))


def _packed(rank: Column, place: Column) -> Column:
    return F.shiftleft(rank, _PLACE_BITS).bitwiseOR(place)


def _length() -> Column:
    return F.coalesce(F.length("text"), F.lit(0))


def _scores(read: DataFrame, criteria: Sequence[Criterion]) -> tuple[list[Column], list[str]]:
    """A number for each criterion, of which the greatest is preferred; and sentences."""
    columns = [each for each in criteria if each.column is not None]
    # Of each column of a criterion three figures: is there a value, as a number, and as a time?
    counts = [
        F.sum(F.when(F.col("readings")[n] > 0, 1).otherwise(0))
        if n % 3 == 0
        else F.sum(F.when(F.isnan(F.col("readings")[n]), 0).otherwise(1))
        for n in range(3 * len(columns))
    ]
    row = read.agg(*counts).first() if counts else None
    found = [int(each or 0) for each in row or ()]
    told: list[str] = []
    scores: list[Column] = []
    for criterion in criteria:
        score = F.col("length")
        if criterion.column is not None:
            at = 3 * columns.index(criterion)
            given_values, numbers, times = found[at : at + 3]
            way = column_read(criterion, given_values, numbers, times)
            if way.unreadable:
                told.append(unreadable_told(criterion, way))
            value = F.col("readings")[at + 1 + way.as_times]
            value = -value if criterion.word == LOWEST else value
            score = F.when(F.isnan(value), -inf).otherwise(F.when(value == 0, 0.0).otherwise(value))
        scores.append(score)
    return scores, told


def _ranks(ordered: DataFrame) -> DataFrame:
    """The rank of each place, from 0: of rows sorted in parallel, counted on from part to part.

    Raises:
        ValueError: there are too many rows.
    """
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


def readings_column(
    frame: DataFrame, criteria: Sequence[Criterion], value: Callable[[str], Column]
) -> Column:
    """What `readings_of` gives for the column of each criterion, one after the other.

    Args:
        frame: has the columns.
        criteria: some name one.
        value: the value of a column.
    """
    kinds = dict(frame.dtypes)
    names = [each.column for each in criteria if each.column is not None]
    parts = [_readings(value(name), kinds[name]) for name in names]
    return F.flatten(F.array(*parts)) if parts else F.array().cast("array<double>")


def _readings(value: Column, kind: str) -> Column:
    if kind == "string":
        return F.udf(_read_text, ArrayType(DoubleType()), useArrow=False)(value)
    none, number, time = F.lit(nan), F.lit(nan), F.lit(nan)
    if kind in _NUMBERS or kind.startswith("decimal"):
        number = value.cast("double")
    elif kind == "date":
        time = F.datediff(value, F.lit("1970-01-01").cast("date")) * F.lit(float(_DAY_SECONDS))
    elif kind == "timestamp":
        time = F.unix_micros(value) / F.lit(1e6)
    elif kind == "timestamp_ntz":
        beginning = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        time = F.timestamp_diff("MICROSECOND", beginning, value) / F.lit(1e6)
    is_given = value.isNotNull() if kind not in ("float", "double") else ~_is_nan(value)
    return F.array(is_given.cast("double"), F.coalesce(number, none), F.coalesce(time, none))


def _is_nan(value: Column) -> Column:
    return value.isNull() | F.isnan(value)


def _read_text(text: str | None) -> list[float]:
    return [float(each) for each in readings_of(text)]
