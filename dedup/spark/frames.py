"""Deduplicating a DataFrame of Spark."""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.collection.columns import nearest
from dedup.collection.rules import Rules
from dedup.detectors import STAGES
from dedup.spark.engine import Engine
from dedup.spark.keeping import released
from dedup.spark.pages import as_given, no_texts, texts_of
from dedup.spark.ranking import MOST_PLACES, PLACE_MASK, in_judging_order, readings_column
from dedup.spark.reading import text_or_markup

_UNKNOWN = {"value": "string", "body": "binary", "reason": "string"}
"""Columns of rows of files that those of a DataFrame do not have."""


def deduplicate(
    dataframe: DataFrame,
    *,
    order: str,
    text: str = "text",
    html: str = "html",
    id: str | None = None,  # noqa: A002 -- as the column is called
    url: str | None = None,
    title: str | None = None,
    threshold: float = 0.8,
    stages: Sequence[str] = STAGES,
    within: str | None = None,
    keep: str = "first",
    engine: Engine | None = None,
) -> DataFrame:
    """Return all rows with four more columns, which say which rows duplicate which.

    As `dedup.deduplicate`, whose verdicts it gives, but for the limit of candidates, which is not
    there: see docs/collections.md. The rows that stay: `.filter("duplicate_of is null")`.

    Args:
        dataframe: is read several times; what is read must be the same each time.
        order: the column of whole numbers, 0 to 2^35 - 1, each once, that says which row comes
            first. A DataFrame has no order of its own.
        text: the column of the texts; a row without one (null) stays.
        html: that of the markup, where a row has no text.
        id: that which names a row, in `duplicate_of` and `group`; None: `order`.
        url: that of the URLs; two rows of one host with titles of their own are two pages.
        title: that of the titles.
        threshold: the resemblance from which on two rows are near duplicates.
        stages: of the cascade, those that are asked.
        within: the column in which duplicates must agree.
        keep: which row stays, as in `dedup.deduplicate`.
        engine: for other sizes of its parts; its rules are not used.

    Raises:
        ValueError: a column is missing, or an argument out of its range; `order` names two rows.
    """
    rules = Rules(threshold=threshold, stages=tuple(stages), within=within, keep=keep)
    has_html = html in dataframe.columns
    known_text = text if text in dataframe.columns or not has_html else None
    for name in (order, known_text, id, url, title, *rules.others):
        if name is not None and name not in dataframe.columns:
            raise ValueError(f"no column `{name}`{nearest(name, dataframe.columns)}")
    check_order(dataframe, order)
    said, markup = text_or_markup(_text(known_text), _text(html if has_html else None))
    rows = dataframe.select(
        F.col(order).cast("bigint").alias("place"),
        said.alias("text"),
        markup.alias("html"),
        _text(url).alias("url"),
        _text(title).alias("title"),
        _text(within).alias("group"),
        readings_column(dataframe, rules.criteria, F.col).alias("readings"),
        *(F.lit(None).cast(kind).alias(name) for name, kind in _UNKNOWN.items()),
    ).fillna("None" if within is not None else "", ["group"])
    texts = texts_of(rows) if has_html else no_texts(rows)
    ordered = in_judging_order(as_given(rows, texts.frame), rows, rules)
    engine = replace(engine or Engine(rules=rules), rules=rules, known=(texts.sites,))
    found = engine.duplicates(ordered.given.drop("place"))
    released(*ordered.kept)
    texts.release()
    return with_marks(dataframe, found, order=order, id=id or order)


def check_order(dataframe: DataFrame, order: str) -> None:
    """Check that a column orders the rows.

    Raises:
        ValueError: it is of another type, or out of its range, or two rows have one number.
    """
    kind = dict(dataframe.dtypes)[order]
    if kind not in ("bigint", "int", "smallint", "tinyint"):
        raise ValueError(f"order must be a column of whole numbers, got `{order}` of type {kind}")
    number = F.col(order)
    row = dataframe.agg(
        F.count("*"), F.count(number), F.countDistinct(number), F.min(number), F.max(number)
    ).first()
    if row is None or not row[0]:
        return
    rows, numbers, different, least, greatest = row
    if numbers != rows or different != rows:
        raise ValueError(
            f"order must be unique per row, got {different:,} values for {rows:,} rows"
        )
    if not 0 <= least <= greatest < MOST_PLACES:
        raise ValueError(f"order must be 0 to {PLACE_MASK}, got {least} to {greatest}")


def with_marks(dataframe: DataFrame, found: DataFrame, *, order: str, id: str) -> DataFrame:  # noqa: A002 -- as the column is called
    """Add what was found to the rows; `found` has judging numbers."""
    marks = by_place(found).drop("distance").toDF("__place", "__original", "stage", "resemblance")
    names = dataframe.select(F.col(order).alias("__original"), F.col(id).alias("duplicate_of"))
    marks = marks.join(names, "__original").drop("__original")
    plain = dataframe.drop("duplicate_of", "resemblance", "stage", "group")
    joined = plain.join(marks, plain[order] == marks["__place"], "left").drop("__place")
    group = F.coalesce(F.col("duplicate_of"), F.col(id))
    added = [F.col(name) for name in ("duplicate_of", "resemblance", "stage")]
    return joined.select(*plain.columns, *added, group.alias("group"))


def by_place(found: DataFrame) -> DataFrame:
    """What was found, with places instead of judging numbers, and stages by their names."""
    mask, original = F.lit(PLACE_MASK), F.col("original")
    return found.select(
        F.col("number").bitwiseAND(mask).alias("place"),
        F.when(original < 0, original).otherwise(original.bitwiseAND(mask)).alias("original"),
        F.element_at(F.array(*map(F.lit, STAGES)), F.col("stage") + 1).alias("stage"),
        "distance",
        "resemblance",
    )


def _text(name: str | None) -> Column:
    """A column as text; nulls where there is no such column."""
    return F.lit(None).cast("string") if name is None else F.col(name).cast("string")
