"""Texts of pages of markup: what their hosts repeat is learned in a first pass."""

from functools import partial
from typing import NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.batches import GIVEN
from dedup.arrow.pages import (
    EXTRACTED,
    LEARNED,
    PLACED,
    SAMPLED,
    extracted,
    learned,
    placed,
    sampled,
    sites_of,
)
from dedup.collection.sites import pages_of_each_host
from dedup.sites.site import Site
from dedup.spark.keeping import released, settled
from dedup.spark.schemas import spark_schema


class Texts(NamedTuple):
    """What rows with markup say.

    Attributes:
        frame: `EXTRACTED`.
        sites: what was learned of their hosts.
        is_settled: is the frame kept until it is released?
    """

    frame: DataFrame
    sites: dict[str, Site]
    is_settled: bool

    def release(self) -> None:
        if self.is_settled:
            released(self.frame)


def texts_of(rows: DataFrame) -> Texts:
    """Take the texts out of the rows that have markup.

    Args:
        rows: what is `READ`.
    """
    pages = rows.filter("html is not null").select(
        "place", "value", "html", "body", "url", "title", "group"
    )
    sites = _learn(pages)
    kernel = partial(extracted, sites=sites)
    frame = settled(pages.mapInArrow(kernel, spark_schema(EXTRACTED)))
    return Texts(frame, sites, is_settled=True)


def no_texts(rows: DataFrame) -> Texts:
    """The same of rows without markup: none."""
    frame = rows.sparkSession.createDataFrame([], spark_schema(EXTRACTED))
    return Texts(frame, {}, is_settled=False)


def as_given(rows: DataFrame, texts: DataFrame) -> DataFrame:
    """All documents, those of markup with their texts; `GIVEN`, and `place` for `number`."""
    plain = rows.filter("reason is null and text is not null").select(
        "place", "text", "url", "title", "group", "body"
    )
    pages = texts.filter("reason is null").select("place", *GIVEN.names[1:])
    return plain.unionByName(pages, allowMissingColumns=True)


def _learn(pages: DataFrame) -> dict[str, Site]:
    """Learn what hosts repeat, each from the same pages as on one machine."""
    addressed = pages.filter("url is not null and url != ''").select(
        "place", "html", "url", "title"
    )
    known = addressed.select("place", "url").mapInArrow(placed, spark_schema(PLACED))
    firsts = settled(known.groupBy("host", "url_order").agg(F.min("place").alias("place")))
    counts = settled(firsts.groupBy("host").count())

    def pages_with_at_most(at_most: int) -> int:
        row = counts.agg(F.sum(F.least(F.col("count"), F.lit(at_most)))).first()
        return 0 if row is None else row[0] or 0

    at_most = pages_of_each_host(pages_with_at_most)
    rank = F.row_number().over(Window.partitionBy("host").orderBy("url_order"))
    chosen = firsts.withColumn("rank", rank).filter(F.col("rank") <= at_most)
    samples = addressed.join(chosen.select("place"), "place", "left_semi").mapInArrow(
        sampled, spark_schema(SAMPLED)
    )
    found = samples.groupBy("host").applyInArrow(learned, spark_schema(LEARNED))
    sites = sites_of((row[0], bytes(row[1])) for row in found.collect())
    released(firsts, counts)
    return sites
