"""`dedup run --engine spark`: rows in, folders of part files out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- as everyone calls it

from dedup.arrow.rows import clustered, records, spliced, unfit
from dedup.collection.evaluation import Evaluation, Named
from dedup.collection.passages import PASSAGES, PassageCounts
from dedup.spark.engine import Engine
from dedup.spark.evaluation import evaluation_rows, rows_that_contain
from dedup.spark.frames import by_place
from dedup.spark.keeping import released, sent, settled
from dedup.spark.pages import Texts, as_given, no_texts, texts_of
from dedup.spark.passages import PassagesFound, search
from dedup.spark.ranking import MOST_PLACES, in_judging_order
from dedup.spark.reading import Rows, as_json


class Unfit(NamedTuple):
    """A row that is no document: its number, from 1, why, and whether it lacks just a text."""

    number: int
    reason: str
    lacks_text: bool

    def __str__(self) -> str:
        kind = "row without text" if self.lacks_text else "broken row"
        return f"first {kind}, {self.number}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Account:
    """What came of the rows.

    Attributes:
        rows: all that are not blank.
        without_text: rows that are sound, but have no text.
        broken: those that are not.
        first_unfit: the first of both.
        duplicates: by stage.
        told: sentences on what could not be followed.
        passages: what was found of them, where they were looked for.
    """

    rows: int
    without_text: int
    broken: int
    first_unfit: Unfit | None
    duplicates: dict[str, int] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    passages: PassageCounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The folders that are written; None: not wanted.

    Attributes:
        unique: the rows that stay, or with `is_marked` all, with what they duplicate.
        duplicates: a record of each row that is dropped.
        clusters: a record of each document.
        broken: a record of each row that is broken or has no text.
        passages: the number of words of the shortest passage that is cut out of what is written, or
            with `is_marked` listed; None: they are not looked for.
        text: the column that they are cut out of.
    """

    unique: str | None
    duplicates: str | None
    clusters: str | None = None
    broken: str | None = None
    is_marked: bool = False
    is_overwritten: bool = False
    passages: int | None = None
    text: str = "text"


def run(
    rows: Rows,
    engine: Engine,
    outputs: Outputs,
    baseline: Rows | None = None,
    on_account: Callable[[Account], object] = lambda _: None,
    evaluation: Evaluation | None = None,
) -> Account:
    """Find the duplicates of a collection, and write.

    Args:
        rows: the collection.
        engine: with the rules.
        outputs: what is written.
        baseline: an earlier collection, whose rows come before all others, and are not written.
        on_account: is called with what is known of the collection before duplicates are looked for.
        evaluation: rows that hold a passage of it are dropped before others are compared.

    Raises:
        ValueError: none of the rows is a document, or has a column that was named.
    """
    collection = _documents(rows)
    on_account(collection.account)
    given = collection.given
    held = None if evaluation is None else rows_that_contain(given, evaluation)
    if held is not None:
        given = given.join(sent(held.select("place")), "place", "left_anti")
    ordered = in_judging_order(given, collection.rows.frame, engine.rules)
    given = ordered.given
    names = collection.rows.frame.filter("reason is null").select("place", "name", "url")
    known = [collection.texts.sites]
    if baseline is not None:
        before = _documents(baseline)
        known.append(before.texts.sites)
        earlier = F.col("place") - _BEFORE
        given = given.unionByName(before.given.withColumn("number", earlier))
        is_text = F.col("name").startswith('"')
        name = F.when(is_text, F.col("name")).otherwise(as_json(F.col("name")))
        names = names.union(before.rows.frame.select(earlier, name, "url"))
    engine = replace(engine, known=known)
    dropped = engine.duplicates(given.drop("place"))
    found = _named(by_place(dropped.filter("number >= 0")), names)
    released(dropped, *ordered.kept)
    if held is not None:
        found = _more(found, settled(held.join(names, "place")))
        released(held)
    if baseline is not None:
        before.texts.release()
    passages = None
    if outputs.passages is not None:
        given = collection.given
        has_markup = collection.texts.is_settled
        passages = search(given, found, outputs.passages, has_markup=has_markup)
        found = _more(found, _named(passages.dropped(), names))
    counts = {row[0]: row[1] for row in found.groupBy("stage").count().collect()}
    if outputs.unique is not None:
        _write(_kept(collection, found, outputs, passages), outputs.unique, outputs)
    if outputs.duplicates is not None:
        _write(_records(found), outputs.duplicates, outputs)
    if outputs.clusters is not None:
        _write(_clusters(collection, found), outputs.clusters, outputs)
    if outputs.broken is not None:
        _write(_unfit(rows, collection.texts), outputs.broken, outputs)
    released(found)
    if passages is not None:
        passages.release()
    collection.texts.release()
    account = replace(collection.account, duplicates=counts, told=ordered.told)
    return account if passages is None else replace(account, passages=passages.counts)


def evaluation_of(rows: Rows) -> Iterator[Named]:
    """The rows of an evaluation set, in their order."""
    found = _documents(rows)
    yield from evaluation_rows(found.given, found.rows.frame)
    found.texts.release()


_BEFORE = MOST_PLACES
"""Less by this is the number of a baseline's row than its place: so it comes before all others."""


@dataclass(frozen=True, slots=True)
class _Documents:
    """The rows of a collection, and what they say.

    Attributes:
        rows: of them, those that are documents, and those without text, which have a `reason`.
        texts: of those with markup.
        given: see `as_given`.
        account: without duplicates.
    """

    rows: Rows
    texts: Texts
    given: DataFrame
    account: Account


def _documents(rows: Rows) -> _Documents:
    account, has_markup = _account(rows.frame)
    texts = texts_of(rows.frame) if has_markup else no_texts(rows.frame)
    sound = rows.frame.filter("reason is null or lacks_text")
    if has_markup:
        of_markup, _ = _account(texts.frame)
        firsts = [each.first_unfit for each in (account, of_markup) if each.first_unfit]
        broken = account.broken + of_markup.broken
        account = replace(account, broken=broken, first_unfit=min(firsts, default=None))
        if of_markup.broken:
            sound = sound.join(texts.frame.filter("reason is not null"), "place", "left_anti")
    n_unfit = account.broken + account.without_text
    if n_unfit == account.rows and (first := account.first_unfit) is not None:
        raise ValueError(
            f"none of {account.rows:,} rows is valid; the first, row {first.number}: {first.reason}"
        )
    _check_columns(rows, account)
    found = Rows(sound, rows.is_parquet, rows.required)
    return _Documents(found, texts, as_given(sound, texts.frame), account)


def _check_columns(rows: Rows, account: Account) -> None:
    if not rows.required or not account.rows:
        return
    names = sorted(rows.required)
    sees = [F.max(F.array_contains("present", name)).alias(f"n{n}") for n, name in enumerate(names)]
    for name, is_seen in zip(names, rows.frame.agg(*sees).first() or (), strict=True):
        if not is_seen:
            raise ValueError(f"no row has column `{name}`")


def _account(frame: DataFrame) -> tuple[Account, bool]:
    """Count rows, those that are broken, and those without text; is there any markup?"""
    is_read = "html" in frame.columns  # and not extracted
    markup = F.count("html") if is_read else F.lit(0)
    lacks_text = F.coalesce("lacks_text", F.lit(False)) if is_read else F.lit(False)
    unfit = F.struct((F.col("place") + 1).alias("number"), "reason", lacks_text.alias("lacks_text"))
    first = F.min(F.when(F.col("reason").isNotNull(), unfit))
    figures = F.count("*"), F.count("reason"), F.count_if(lacks_text), first, markup
    n_rows, n_unfit, n_textless, found, n_markup = frame.agg(*figures).first() or (0, 0, 0, None, 0)
    first_unfit = None if found is None else Unfit(*found)
    return Account(n_rows, n_textless, n_unfit - n_textless, first_unfit), n_markup > 0


def _named(found: DataFrame, names: DataFrame) -> DataFrame:
    """What was found, by places, with the names and URLs of both rows."""
    wanted = found.select("place").union(found.select("original")).distinct()
    told = settled(names.join(sent(wanted), "place", "left_semi"))
    originals = told.toDF("original", "duplicate_of", "duplicate_of_url")
    named = settled(found.join(told, "place").join(originals, "original"))
    released(told)
    return named


def _more(found: DataFrame, others: DataFrame) -> DataFrame:
    every = settled(found.unionByName(others))
    released(found, others)
    return every


def _kept(
    collection: _Documents, found: DataFrame, outputs: Outputs, passages: PassagesFound | None
) -> DataFrame:
    """The rows that are written, in the order in which they came."""
    rows = collection.rows
    sound = rows.frame
    if not rows.is_parquet:
        lines = collection.texts.frame.select("place", F.col("value").alias("line"))
        line = F.coalesce("line", "value")
        sound = sound.join(lines, "place", "left").withColumn("value", line).drop("line")
    if not outputs.is_marked:
        sound = sound.filter("reason is null")
        if passages is not None:
            sound = passages.cut(sound, outputs.text, is_parquet=rows.is_parquet)
        kept = sound.join(sent(found.select("place")), "place", "left_anti").orderBy("place")
        return kept.select("value.*" if rows.is_parquet else "value")
    marks = found.select("place", "duplicate_of", "resemblance", "stage")
    marked = sound.select("place", "value", "name").join(marks, "place", "left").orderBy("place")
    if passages is not None:
        marked = passages.listed(marked, rows.frame).orderBy("place")
    group = F.coalesce("duplicate_of", "name")
    if not rows.is_parquet:
        return marked.withColumn("group", group).mapInArrow(spliced, "value string")
    old: tuple[str, ...] = ("duplicate_of", "resemblance", "stage", "group")
    added = [F.col(name) for name in old[:3]] + [group.alias("group")]
    if passages is not None:
        old, added = (*old, PASSAGES), [*added, F.col(PASSAGES)]
    return (
        marked.select("value.*", *(each.alias(f"__{n}") for n, each in enumerate(added)))
        .drop(*old)
        .withColumnsRenamed({f"__{n}": name for n, name in enumerate(old)})
    )


def _records(found: DataFrame) -> DataFrame:
    """Records of duplicates, as `dedup run -d` writes them."""
    return found.orderBy("place").mapInArrow(records, "value string")


def _clusters(collection: _Documents, found: DataFrame) -> DataFrame:
    """Records of documents, as `dedup run --clusters` writes them."""
    documents = collection.rows.frame.filter("reason is null").select("place", "name", "url")
    marks = found.select("place", "duplicate_of", "resemblance", "stage")
    group = F.coalesce("duplicate_of", "name")
    marked = documents.join(marks, "place", "left").withColumn("group", group)
    return marked.orderBy("place").mapInArrow(clustered, "value string")


def _unfit(rows: Rows, texts: Texts) -> DataFrame:
    """Records of the rows that are no documents."""
    value = F.to_json("value") if rows.is_parquet else F.col("value")
    names = ("place", "reason", "value")
    found = rows.frame.select("place", "reason", value.alias("value"))
    found = found.union(texts.frame.select(*names)).filter("reason is not null")
    return found.orderBy("place").mapInArrow(unfit, "value string")


def _write(frame: DataFrame, path: str, outputs: Outputs) -> None:
    mode = "overwrite" if outputs.is_overwritten else "error"
    if frame.columns == ["value"] and dict(frame.dtypes)["value"] == "string":
        frame.write.mode(mode).option("lineSep", "\n").text(path)
        _name_json_lines(frame.sparkSession, path)
    else:
        frame.write.mode(mode).parquet(path)


def _name_json_lines(session: SparkSession, path: str) -> None:
    """Spark names lines of text `part-….txt`: make it `part-….jsonl`.

    Raises:
        OSError: a file cannot be renamed.
    """
    gateway: Any = session
    folder = gateway._jvm.org.apache.hadoop.fs.Path(path)
    system = folder.getFileSystem(gateway._jsc.hadoopConfiguration())
    for status in system.listStatus(folder):
        part = status.getPath()
        name = part.getName()
        if not name.endswith(".txt"):
            continue
        wanted = gateway._jvm.org.apache.hadoop.fs.Path(
            part.getParent(), name.removesuffix(".txt") + ".jsonl"
        )
        if not system.rename(part, wanted):
            raise OSError(f"{part.toString()}: cannot be renamed to {wanted.getName()}")
