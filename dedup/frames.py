"""Deduplicating tables in memory: pandas, polars, PyArrow, Hugging Face datasets.

None of them is required: a table is recognised by its module and read through its own interface.
PyArrow reads other tables with Arrow's stream interface (`__arrow_c_stream__`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from reprlib import repr as shorten
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from dedup.collection.account import FileAccount
from dedup.collection.columns import Columns
from dedup.collection.deciding import Decider
from dedup.collection.judging import RowJudge
from dedup.collection.rows import Broken, Row, TableRow
from dedup.collection.rules import Rules
from dedup.collection.signing import SigningProcesses, Work
from dedup.collection.sites import learn_sites, rare_lines
from dedup.collection.sources import Source
from dedup.collection.spool import SpoolStore
from dedup.detectors import STAGES
from dedup.extras import load_extra

T = TypeVar("T")

_ROWS_AT_ONCE = 1_000

_NONE = "\0{}"
"""A column name that no table has."""

MARKS = ("duplicate_of", "resemblance", "stage", "group")
"""The added columns."""


def deduplicate(
    table: T,
    *,
    text: str = "text",
    html: str = "html",
    id: str | None = None,  # noqa: A002 -- as the column is called
    url: str | None = None,
    title: str | None = None,
    threshold: float = 0.8,
    stages: Sequence[str] = STAGES,
    within: str | None = None,
    keep: str = "first",
) -> T:
    """Return the table with four more columns that identify duplicates. No row is dropped.

    `duplicate_of` names the row to keep instead of this one: by its `id` if there is one, else by
    its position, from 0. It is null for rows to keep. For `resemblance` and `stage` see `Match`.
    `group` is the same as `duplicate_of`; for a row to keep, it is the row's own name. Existing
    columns with these names are replaced. The rows to keep:

        table[table["duplicate_of"].isna()]                     # pandas
        table.filter(pl.col("duplicate_of").is_null())          # polars

    Rows without a text (null) are kept. The verdicts are those of `dedup run`.

    Args:
        table: a DataFrame of pandas or polars, a table or batch of PyArrow, a Hugging Face
            `Dataset`, or any object with Arrow's stream interface, for which a PyArrow table is
            returned.
        text: the column with the text.
        html: the column with markup, used if a row has no text.
        id: the column with the row id.
        url: the column with the URL. Two rows of one host with different titles are two pages.
        title: the column with the title.
        threshold: the minimum resemblance of near duplicates.
        stages: the stages of the cascade to use.
        within: the column in which duplicates must agree.
        keep: which row to keep, as in `--keep`: `first`, or `longest`, `newest:COLUMN`,
            `highest:COLUMN` and `lowest:COLUMN`, several in their order. Values that are missing or
            cannot be read rank last.

    Raises:
        ValueError: a column is missing, a text is not a string, or an argument is out of range.
        TypeError: `table` is not a table, or an argument has the wrong type.
    """
    named = {"id": id, "url": url, "title": title}
    for name, column in {"text": text, "html": html, **named, "within": within}.items():
        if not (isinstance(column, str) or (column is None and name not in ("text", "html"))):
            raise TypeError(f"{name} must be a column name, got {column!r}")
    if isinstance(stages, str) or not isinstance(stages, Sequence):
        raise TypeError(f"stages must be a sequence of names, got {stages!r}")
    if not isinstance(threshold, (int, float)):
        raise TypeError(f"threshold must be a number, got {threshold!r}")
    if not isinstance(keep, str):
        raise TypeError(f"keep must be a text such as longest,newest:date, got {keep!r}")
    frame = _frame_of(table)
    rules = Rules(threshold=threshold, stages=tuple(stages), within=within, keep=keep)
    columns = Columns(
        text=text,
        html=html,
        id=id or _NONE.format("id"),
        url=url or _NONE.format("url"),
        title=title or _NONE.format("title"),
        others=rules.others,
        required=frozenset(name for name in (*named.values(), *rules.others) if name is not None),
    )
    columns.check(frame.names, type(table).__name__)
    for name in (*columns.names, *MARKS):
        if frame.names.count(name) > 1:
            raise ValueError(f"column names must be unique, got {name!r} more than once")
    marks = _marks(frame, columns, rules)
    result: T = frame.with_columns(marks)
    return result


def _marks(frame: "_Frame", columns: Columns, rules: Rules) -> dict[str, list[Any]]:
    names = [name for name in dict.fromkeys(columns.names) if name in frame.names]
    count = len(frame)
    marks: dict[str, list[Any]] = {name: [None] * count for name in MARKS}
    has_ids = columns.id in frame.names
    ids = frame.values(columns.id) if has_ids else iter(range(count))
    marks["group"] = list(ids)

    def rows() -> Iterator[tuple[int, Row | Broken]]:
        for place, values in enumerate(frame.rows(names)):
            if not has_ids:
                values = {**values, columns.id: place}
            found = values.get(columns.text)
            if not (found is None or isinstance(found, str)):
                raise ValueError(
                    f"row {place}: the column {columns.text!r} must have texts,"
                    f" got {shorten(found)}"
                )
            if found is not None or values.get(columns.html) is not None:
                yield 0, TableRow(str(place), values, (*names, columns.id))

    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="dedup-")))
        store = SpoolStore(folder)
        stack.callback(store.close)
        sites = learn_sites((row for _, row in rows()), columns) if columns.html in names else {}
        account = FileAccount(Source(folder, "the table", "jsonl", 0), columns)
        judge = RowJudge(
            rules,
            Decider(rules, store, rare_on=rare_lines(sites.get)),
            SigningProcesses(Work(columns=columns, rules=rules, sites=sites), 1),
            [account],
            folder=folder,
            on_broken=_refuse,
        )
        for judged in judge.judge(rows):
            place = int(judged.row.place)
            for name, value in judged.marks.items():
                marks[name][place] = value
    return marks


def _refuse(file: int, broken: Broken) -> None:  # noqa: ARG001 -- there is one
    raise ValueError(f"row {broken.place}: {broken.reason}")


class _Frame(ABC):
    """The interface to a table."""

    def __init__(self, table: Any, names: Iterable[object]) -> None:
        self._table = table
        self.names = [name for name in names if isinstance(name, str)]

    def __len__(self) -> int:
        return len(self._table)

    @abstractmethod
    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """The rows, with these columns only."""

    @abstractmethod
    def with_columns(self, columns: dict[str, list[Any]]) -> Any:
        """The table with these columns appended."""

    def values(self, name: str) -> Iterator[Any]:
        """The values of a column."""
        return (row[name] for row in self.rows([name]))


def _frame_of(table: Any) -> _Frame:
    module = type(table).__module__.partition(".")[0]
    if module == "pandas" and hasattr(table, "columns"):
        return _Pandas(table, table.columns)
    if module == "polars" and hasattr(table, "collect"):
        raise TypeError("table must be in memory: call collect() on the lazy frame first")
    if module == "polars" and hasattr(table, "iter_slices"):
        return _Polars(table, table.columns)
    if module == "datasets" and hasattr(table, "column_names") and hasattr(table, "add_column"):
        if not hasattr(table, "__len__"):
            raise TypeError("table must be in memory: load the dataset without streaming=True")
        return _Dataset(table, table.column_names)
    if module == "pyarrow" and hasattr(table, "append_column"):
        return _Arrow(table, table.schema.names)
    if hasattr(table, "__arrow_c_stream__") and type(table).__name__ != "Series":
        arrow = load_extra("pyarrow", extra="parquet", purpose="this table")
        with suppress(arrow.ArrowInvalid):  # a stream of something else than rows
            read = arrow.table(table)
            return _Arrow(read, read.schema.names)
    raise TypeError(
        "table must come from pandas, polars, PyArrow or Hugging Face's datasets, or have Arrow's"
        f" stream interface, got {type(table).__name__}"
    )


class _Pandas(_Frame):
    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self), _ROWS_AT_ONCE):
            part = self._table[list(names)].iloc[start : start + _ROWS_AT_ONCE].astype(object)
            lists = [part[name].where(part[name].notna(), None).tolist() for name in names]
            for values in zip(*lists, strict=True):
                yield dict(zip(names, values, strict=True))

    def with_columns(self, columns: dict[str, list[Any]]) -> Any:
        made = {name: self._series(values) for name, values in columns.items()}
        return self._table.assign(**made)

    def _series(self, values: list[Any]) -> Any:
        """A column. Integers stay integers next to nulls."""
        kinds = {type(value) for value in values if value is not None}
        frame = type(self._table)({"x": values}, index=self._table.index, dtype=object)
        if len(kinds) == 1 and kinds <= {int, float}:
            return frame["x"].astype("Int64" if int in kinds else "float64")
        return frame["x"]


class _Polars(_Frame):
    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for part in self._table.select(names).iter_slices(_ROWS_AT_ONCE):
            yield from part.to_dicts()

    def with_columns(self, columns: dict[str, list[Any]]) -> Any:
        made = type(self._table)(columns, strict=False)
        for name, kind in (("resemblance", float), ("stage", str)):
            made = made.with_columns(made[name].cast(kind))
        return self._table.with_columns(made.get_columns())


class _Arrow(_Frame):
    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        table = self._table.select(list(names))
        for start in range(0, len(table), _ROWS_AT_ONCE):
            yield from table.slice(start, _ROWS_AT_ONCE).to_pylist()

    def with_columns(self, columns: dict[str, list[Any]]) -> Any:
        table = self._table.drop_columns([name for name in columns if name in self.names])
        for name, column in _arrow_columns(columns).items():
            table = table.append_column(name, column)
        return table


class _Dataset(_Frame):
    def rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        plain = self._table.select_columns(list(names)).with_format(None)
        for part in plain.iter(_ROWS_AT_ONCE):
            for values in zip(*part.values(), strict=True):
                yield dict(zip(part, values, strict=True))

    def with_columns(self, columns: dict[str, list[Any]]) -> Any:
        table = self._table.remove_columns([name for name in columns if name in self.names])
        for name, column in _arrow_columns(columns).items():
            table = table.add_column(name, column)
        return table


def _arrow_columns(columns: dict[str, list[Any]]) -> dict[str, Any]:
    arrow = load_extra("pyarrow", extra="parquet", purpose="this table")
    kinds = {"resemblance": arrow.float64(), "stage": arrow.string()}
    return {name: arrow.array(values, kinds.get(name)) for name, values in columns.items()}
