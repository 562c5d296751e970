"""`dedup run --engine spark`: files in, folders of part files out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.rows import NUMBERED, READ, Block, numbered, read, records, spliced
from dedup.collection.columns import Columns
from dedup.collection.rules import STAGES, Rules
from dedup.spark.engine import Engine
from dedup.spark.frames import PLACE_MASK, judging_number
from dedup.spark.rounds import settled
from dedup.spark.schemas import spark_schema

_BLANK = r"^[\s\x0B\f]*$"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a collection.

    Attributes:
        frame: what is in `READ`; of Parquet, `value` is a struct of all columns.
        is_parquet: or else lines of JSON.
        required: columns of which each must be in some line.
    """

    frame: DataFrame
    is_parquet: bool
    required: frozenset[str] = frozenset()


def read_sources(
    session: SparkSession, inputs: Sequence[str], columns: Columns, rules: Rules, *, parquet: bool
) -> Rows:
    """Read files, folders or globs, of any file system that Spark knows; files go by their names.

    Raises:
        ValueError: there is no such column.
    """
    if parquet:
        return Rows(_read_parquet(session, inputs, columns, rules), is_parquet=True)
    lines = _union(
        session.read.option("lineSep", "\n")
        .text(path)
        .select(
            F.lit(number).alias("input"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("block"),
            "value",
        )
        for number, path in enumerate(inputs)
    ).filter(~F.col("value").rlike(_BLANK))
    # Arrow's text is UTF-8. With replaced bytes, different rows would be equal.
    lines = lines.withColumn("value", F.when(F.is_valid_utf8("value"), F.col("value")))
    counts = lines.groupBy("input", "file", "block").count().collect()
    sizes = {(row[0], row[1], row[2]): row[3] for row in counts}
    placed = lines.mapInArrow(partial(numbered, starts=_starts(sizes)), spark_schema(NUMBERED))
    kernel = partial(read, columns=columns, within=rules.within)
    read_lines = placed.mapInArrow(kernel, spark_schema(READ))
    return Rows(read_lines, is_parquet=False, required=columns.required)


def _starts(sizes: dict[Block, int]) -> dict[Block, int]:
    blocks = sorted(sizes)
    ends = accumulate((sizes[block] for block in blocks), initial=0)
    return dict(zip(blocks, ends, strict=False))


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


def _read_parquet(
    session: SparkSession, inputs: Sequence[str], columns: Columns, rules: Rules
) -> DataFrame:
    tables = [session.read.parquet(path) for path in inputs]
    names = tables[0].columns
    for path, table in zip(inputs, tables, strict=True):
        columns.check(table.columns, path)
        if columns.text not in table.columns:
            raise ValueError(f"{path}: markup (`{columns.html}`) is not read with --engine spark")
    rows = _union(
        table.select(
            F.lit(number).alias("input"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.row_index").alias("index"),
            F.struct(*table.columns).alias("value"),
        )
        for number, table in enumerate(tables)
    )
    counts = rows.groupBy("input", "file").count().collect()
    starts = _starts({(row[0], row[1], 0): row[2] for row in counts})
    pairs = [(f"{number} {file}", start) for (number, file, _), start in starts.items()]
    offsets = F.create_map(*(F.lit(each) for pair in pairs or [("", 0)] for each in pair))
    place = F.element_at(offsets, F.concat_ws(" ", "input", "file")) + F.col("index")

    def value(name: str) -> Column:
        return F.col("value").getField(name) if name in names else F.lit(None)

    def text(name: str) -> Column:
        return value(name).cast("string")

    group = F.lit(None).cast("string")
    if rules.within is not None:
        group = F.coalesce(text(rules.within), F.lit("None"))
    return rows.select(
        place.cast("bigint").alias("place"),
        "value",
        F.coalesce(
            _json(value(columns.id)), _json(text(columns.url)), (place + 1).cast("string")
        ).alias("name"),
        text(columns.text).alias("text"),
        text(columns.url).alias("url"),
        text(columns.title).alias("title"),
        group.alias("group"),
        F.when(value(columns.text).isNull(), f"`{columns.text}` is empty (null)").alias("reason"),
    )


def _json(column: Column) -> Column:
    """A value as JSON writes it; nothing for null."""
    written = F.to_json(F.array(column))
    inner = F.substring(written, F.lit(2), F.length(written) - 2)
    return F.when(column.isNotNull() & (column.cast("string") != ""), inner)


@dataclass(frozen=True, slots=True)
class Account:
    """What came of the rows.

    Attributes:
        rows: all that are not blank.
        broken: rows that are no documents.
        first_broken: number, from 1, and reason of the first of them.
        duplicates: by stage.
    """

    rows: int
    broken: int
    first_broken: tuple[int, str] | None
    duplicates: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The folders that are written; None: not wanted.

    Attributes:
        unique: the rows that stay, or with `is_marked` all, with what they duplicate.
        duplicates: a record of each row that is dropped.
    """

    unique: str | None
    duplicates: str | None
    is_marked: bool = False
    is_overwritten: bool = False


def run(rows: Rows, engine: Engine, outputs: Outputs) -> Account:
    """Find the duplicates of a collection, and write.

    Raises:
        ValueError: none of the rows is a document, or has a column that was named.
    """
    account = _account(rows.frame)
    if account.broken and account.broken == account.rows and account.first_broken is not None:
        number, reason = account.first_broken
        raise ValueError(
            f"none of {account.rows:,} rows is a document; the first, row {number}: {reason}"
        )
    sound = rows.frame.filter("reason is null")
    _check_columns(rows, account)
    given = sound.select(
        judging_number(F.col("place"), F.col("text"), engine.rules).alias("number"),
        *("text", "url", "title", "group"),
    )
    found = _named(engine.duplicates(given), sound)
    counts = {row[0]: row[1] for row in found.groupBy("stage").count().collect()}
    if outputs.unique is not None:
        _write(_kept(rows, found, outputs), outputs.unique, outputs)
    if outputs.duplicates is not None:
        _write(_records(found), outputs.duplicates, outputs)
    return Account(account.rows, account.broken, account.first_broken, counts)


def _check_columns(rows: Rows, account: Account) -> None:
    if not rows.required or not account.rows:
        return
    names = sorted(rows.required)
    sees = [F.max(F.array_contains("present", name)).alias(f"n{n}") for n, name in enumerate(names)]
    for name, is_seen in zip(names, rows.frame.agg(*sees).first() or (), strict=True):
        if not is_seen:
            raise ValueError(f"no row has a column `{name}`")


def _account(frame: DataFrame) -> Account:
    reason = F.struct((F.col("place") + 1).alias("number"), "reason")
    first = F.min(F.when(F.col("reason").isNotNull(), reason))
    row = frame.agg(F.count("*"), F.count("reason"), first).first() or (0, 0, None)
    broken = None if row[2] is None else (row[2][0], row[2][1])
    return Account(row[0], row[1], broken, {})


def _named(found: DataFrame, sound: DataFrame) -> DataFrame:
    """What was found, by places, with the names and URLs of both rows."""
    stage = F.element_at(F.array(*map(F.lit, STAGES)), F.col("stage") + 1)
    mask = F.lit(PLACE_MASK)
    by_place = found.select(
        F.col("number").bitwiseAND(mask).alias("place"),
        F.col("original").bitwiseAND(mask).alias("original"),
        stage.alias("stage"),
        "distance",
        "resemblance",
    )
    names = sound.select("place", "name", "url")
    originals = names.toDF("original", "duplicate_of", "duplicate_of_url")
    return settled(by_place.join(names, "place").join(originals, "original"))


def _kept(rows: Rows, found: DataFrame, outputs: Outputs) -> DataFrame:
    """The rows that are written, in the order in which they came."""
    sound = rows.frame.filter("reason is null")
    if not outputs.is_marked:
        kept = sound.join(found.select("place"), "place", "left_anti").orderBy("place")
        return kept.select("value.*" if rows.is_parquet else "value")
    marks = found.select("place", "duplicate_of", "resemblance", "stage")
    marked = sound.select("place", "value", "name").join(marks, "place", "left").orderBy("place")
    group = F.coalesce("duplicate_of", "name")
    if not rows.is_parquet:
        return marked.withColumn("group", group).mapInArrow(spliced, "value string")
    old = ("duplicate_of", "resemblance", "stage", "group")
    added = [F.col(name) for name in old[:3]] + [group.alias("group")]
    return (
        marked.select("value.*", *(each.alias(f"__{n}") for n, each in enumerate(added)))
        .drop(*old)
        .withColumnsRenamed({f"__{n}": name for n, name in enumerate(old)})
    )


def _records(found: DataFrame) -> DataFrame:
    """Records of duplicates, as `dedup run -d` writes them."""
    return found.orderBy("place").mapInArrow(records, "value string")


def _write(frame: DataFrame, path: str, outputs: Outputs) -> None:
    mode = "overwrite" if outputs.is_overwritten else "error"
    if frame.columns == ["value"] and dict(frame.dtypes)["value"] == "string":
        frame.write.mode(mode).option("lineSep", "\n").text(path)
    else:
        frame.write.mode(mode).parquet(path)
