"""From files to rows with their places in the collection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.files import OPENED, opened
from dedup.arrow.rows import NUMBERED, READ, Block, numbered, read
from dedup.collection.columns import Columns
from dedup.collection.formats import compression_of, known_format
from dedup.collection.rules import Rules
from dedup.spark.keeping import settled
from dedup.spark.ranking import readings_column
from dedup.spark.schemas import spark_schema

_BLANK = r"^[\s\x0B\f]*$"

_Kind = Literal["lines", "parquet", "whole"]
"""How files are read: by Spark's line, as Parquet, or each by one task from beginning to end."""


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
    session: SparkSession, inputs: Sequence[str], columns: Columns, rules: Rules
) -> Rows:
    """Read files, folders or globs, of any file system that Spark knows; files go by their names.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there is no such column; Parquet stands beside other formats.
    """
    parts = list(enumerate(part for path in inputs for part in _parts(session, path)))
    paths: dict[_Kind, dict[int, str]] = {"lines": {}, "parquet": {}, "whole": {}}
    for number, (kind, path) in parts:
        paths[kind][number] = path
    if not paths["parquet"]:
        frame = _read_lines_and_files(session, paths["lines"], paths["whole"], columns, rules)
        return Rows(frame, is_parquet=False, required=columns.required)
    if paths["lines"] or paths["whole"]:
        raise ValueError("--engine spark reads either Parquet or other formats, not both")
    frame = _read_parquet(session, list(paths["parquet"].values()), columns, rules)
    return Rows(frame, is_parquet=True)


def kind_of(name: str) -> _Kind:
    """How a file is read, by its name.

    >>> kind_of("a.jsonl.gz"), kind_of("a.jsonl.xz"), kind_of("part-00000"), kind_of("b.csv")
    ('lines', 'whole', 'lines', 'whole')
    """
    found = known_format(name) or "jsonl"
    if found == "parquet":
        return "parquet"
    # Spark reads gzip by itself; zstd only with a native library, xz not at all.
    return "lines" if found == "jsonl" and compression_of(name) in ("", ".gz") else "whole"


def _parts(session: SparkSession, path: str) -> list[tuple[_Kind, str]]:
    """What to read one after the other: the path itself, or the files that it stands for."""
    name = PurePosixPath(path.rstrip("/")).name
    if known_format(name) and kind_of(name) != "whole":
        return [(kind_of(name), path)]
    files = _files(session, path)
    files = [file for file in files if known_format(file)] or files
    kinds = {kind_of(file) for file in files}
    if len(kinds) == 1 and "whole" not in kinds:
        return [(kinds.pop(), path)]
    return [(kind_of(file), file) for file in files]


def _files(session: SparkSession, path: str) -> list[str]:
    """The files that a path, a folder or a glob of any file system stands for, by their names.

    Raises:
        FileNotFoundError: there are none.
    """
    gateway: Any = session
    place = gateway._jvm.org.apache.hadoop.fs.Path(path)
    system = place.getFileSystem(gateway._jsc.hadoopConfiguration())
    found = []
    for status in system.globStatus(place) or ():
        each = system.listFiles(status.getPath(), True)
        while each.hasNext():
            found.append(each.next().getPath())
    files = sorted(file.toString() for file in found if file.getName()[0] not in "._")
    if not files:
        raise FileNotFoundError(f"{path}: file not found")
    return files


def _read_lines_and_files(
    session: SparkSession,
    lines: Mapping[int, str],
    files: Mapping[int, str],
    columns: Columns,
    rules: Rules,
) -> DataFrame:
    frames, sizes = [], {}
    if lines:
        found = _lines(session, lines)
        sizes = {
            (row[0], row[1], row[2]): row[3]
            for row in found.groupBy("input", "file", "block").count().collect()
        }
    if files:
        # Read once: a row's place is known only when the rows of all files have been counted.
        given = session.createDataFrame(list(files.items()), "input int, file string")
        kernel = partial(opened, columns=columns, rules=rules)
        whole = settled(given.repartition(len(files)).mapInArrow(kernel, spark_schema(OPENED)))
        counts = whole.groupBy("input", "file").count().collect()
        sizes |= {(row[0], row[1], 0): row[2] for row in counts}
    starts = _starts(sizes)
    if lines:
        placed = found.mapInArrow(partial(numbered, starts=starts), spark_schema(NUMBERED))
        kernel = partial(read, columns=columns, rules=rules)
        frames.append(placed.mapInArrow(kernel, spark_schema(READ)))
    if files:
        frames.append(whole.withColumn("place", _place(starts)).select(*READ.names))
    every = reduce(DataFrame.unionByName, frames)
    return every.withColumn("name", _name_or_number(F.col("name"), F.col("place")))


def _lines(session: SparkSession, paths: Mapping[int, str]) -> DataFrame:
    """The lines of files that are not blank, and of which block they are."""
    frames = [
        session.read.option("lineSep", "\n")
        .option("recursiveFileLookup", True)
        .text(path)
        .select(
            F.lit(number).alias("input"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.file_block_start").alias("block"),
            "value",
        )
        for number, path in paths.items()
    ]
    lines = reduce(DataFrame.unionByName, frames).filter(~F.col("value").rlike(_BLANK))
    # Arrow's text is UTF-8. With replaced bytes, different rows would be equal.
    return lines.withColumn("value", F.when(F.is_valid_utf8("value"), F.col("value")))


def _starts(sizes: Mapping[Block, int]) -> dict[Block, int]:
    """The place of the first row of each block."""
    blocks = sorted(sizes)
    ends = accumulate((sizes[block] for block in blocks), initial=0)
    return dict(zip(blocks, ends, strict=False))


def _place(starts: Mapping[Block, int]) -> Column:
    """The place of a row in the collection, from `input`, `file` and its `index` in that."""
    pairs = [(f"{number} {file}", start) for (number, file, _), start in starts.items()]
    offsets = F.create_map(*(F.lit(each) for pair in pairs or [("", 0)] for each in pair))
    place = F.element_at(offsets, F.concat_ws(" ", "input", "file")) + F.col("index")
    return place.cast("bigint")


def _read_parquet(
    session: SparkSession, inputs: Sequence[str], columns: Columns, rules: Rules
) -> DataFrame:
    tables = [session.read.parquet(path) for path in inputs]
    names = tables[0].columns
    for path, table in zip(inputs, tables, strict=True):
        columns.check(table.columns, path)
    frames = [
        table.select(
            F.lit(number).alias("input"),
            F.col("_metadata.file_path").alias("file"),
            F.col("_metadata.row_index").alias("index"),
            F.struct(*table.columns).alias("value"),
        )
        for number, table in enumerate(tables)
    ]
    rows = reduce(DataFrame.unionByName, frames)
    counts = rows.groupBy("input", "file").count().collect()
    place = _place(_starts({(row[0], row[1], 0): row[2] for row in counts}))

    def value(name: str) -> Column:
        return F.col("value").getField(name) if name in names else F.lit(None)

    def text(name: str) -> Column:
        return value(name).cast("string")

    group = F.lit(None).cast("string")
    if rules.within is not None:
        group = F.coalesce(text(rules.within), F.lit("None"))
    is_empty = text(columns.text).isNull() & text(columns.html).isNull()
    said, markup = text_or_markup(text(columns.text), text(columns.html))
    named = columns.text if columns.text in names else columns.html
    return rows.select(
        place.alias("place"),
        "value",
        _name_or_number(
            F.coalesce(as_json(value(columns.id)), as_json(text(columns.url))), place
        ).alias("name"),
        said.alias("text"),
        markup.alias("html"),
        F.lit(None).cast("binary").alias("body"),
        text(columns.url).alias("url"),
        text(columns.title).alias("title"),
        group.alias("group"),
        F.when(is_empty, f"`{named}` is empty (null)").alias("reason"),
        is_empty.alias("lacks_text"),
        readings_column(tables[0], rules.criteria, value).alias("readings"),
    )


def text_or_markup(text: Column, html: Column) -> tuple[Column, Column]:
    """The text, and the markup where a row has none: null, or empty beside markup."""
    has_text = text.isNotNull() & ((text != "") | (F.coalesce(html, F.lit("")) == ""))
    return F.when(has_text, text), F.when(~has_text, html)


def _name_or_number(name: Column, place: Column) -> Column:
    return F.coalesce(name, (place + 1).cast("string"))


def as_json(column: Column) -> Column:
    """A value as JSON writes it; nothing for null."""
    written = F.to_json(F.array(column))
    inner = F.substring(written, F.lit(2), F.length(written) - 2)
    return F.when(column.isNotNull() & (column.cast("string") != ""), inner)
