"""`dedup.deduplicate`: tables of several kinds, each given back as its own kind."""

from typing import Any

import pytest

import dedup

TEXT = " ".join(f"Letter {number} came by the evening post." for number in range(40))
COLUMNS: dict[str, list[Any]] = {
    "key": [10, 20, 30, 40, 50],
    "body": [TEXT, "One.", TEXT + " Amen.", None, "ONE."],
    "g": ["x", "x", "y", "y", "y"],
}


def as_lists(table: Any) -> dict[str, list[Any]]:
    """The columns as lists, with None for nothing."""
    if hasattr(table, "isna"):
        table = table.astype(object).where(table.notna(), None)
        return {name: table[name].tolist() for name in table.columns}
    if hasattr(table, "to_pydict"):
        return dict(table.to_pydict())
    return dict(table.to_dict(as_series=False)) if hasattr(table, "rows") else dict(table.to_dict())


def pandas() -> Any:
    module = pytest.importorskip("pandas", reason="pandas is not installed")
    return module.DataFrame(COLUMNS, index=[7, 3, 3, 1, 0])


def polars() -> Any:
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(COLUMNS)


def pyarrow() -> Any:
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed").table(COLUMNS)


def datasets() -> Any:
    module = pytest.importorskip("datasets", reason="datasets is not installed")
    return module.Dataset.from_dict(COLUMNS)


def record_batch() -> Any:
    return pyarrow().to_batches()[0]


KINDS = [pandas, polars, pyarrow, record_batch, datasets]


@pytest.mark.parametrize("make", KINDS)
def test_a_table_comes_back_as_its_own_kind_with_marks(make: Any) -> None:
    table = make()
    marked = dedup.deduplicate(table, text="body", id="key")
    assert type(marked) is type(table)
    found = as_lists(marked)
    assert {name: found[name] for name in COLUMNS} == COLUMNS
    assert found["duplicate_of"] == [None, None, 10, None, 20]
    assert found["group"] == [10, 20, 10, 40, 20]
    assert found["stage"] == [None, None, found["stage"][2], None, "text"]
    assert found["resemblance"][4] == 1.0
    assert 0.8 <= found["resemblance"][2] < 1.0
    assert as_lists(table) == COLUMNS  # the caller's own stays as it was


@pytest.mark.parametrize("make", KINDS)
def test_without_ids_rows_are_named_by_their_places(make: Any) -> None:
    found = as_lists(dedup.deduplicate(make(), text="body"))
    assert found["duplicate_of"] == [None, None, 0, None, 1]
    assert found["group"] == [0, 1, 0, 3, 1]


@pytest.mark.parametrize("make", KINDS)
def test_rules_are_those_of_the_command(make: Any) -> None:
    found = as_lists(dedup.deduplicate(make(), text="body", keep="longest"))
    assert found["duplicate_of"] == [2, None, None, None, 1]
    found = as_lists(dedup.deduplicate(make(), text="body", within="g"))
    assert found["duplicate_of"] == [None] * 5
    found = as_lists(dedup.deduplicate(make(), text="body", keep="newest:key", stages=["text"]))
    assert found["duplicate_of"] == [None, 4, None, None, None]


@pytest.mark.parametrize("make", KINDS)
def test_marks_that_are_there_are_replaced(make: Any) -> None:
    once = dedup.deduplicate(make(), text="body")
    assert as_lists(dedup.deduplicate(once, text="body")) == as_lists(once)


def test_whole_numbers_stay_whole_in_pandas() -> None:
    marked = dedup.deduplicate(pandas(), text="body", id="key")
    assert str(marked["duplicate_of"].dtype) == "Int64"
    assert marked.index.tolist() == [7, 3, 3, 1, 0]
    assert len(marked[marked["duplicate_of"].isna()]) == 3


def test_other_tables_are_read_by_the_arrow_interface() -> None:
    table = pyarrow()

    class Stream:
        def __arrow_c_stream__(self, schema: Any = None) -> Any:
            return table.__arrow_c_stream__(schema)

    marked: Any = dedup.deduplicate(Stream(), text="body")
    assert as_lists(marked)["group"] == [0, 1, 0, 3, 1]


def test_other_object_is_refused_as_table() -> None:
    with pytest.raises(TypeError, match="got list"):
        dedup.deduplicate([{"text": "x"}])
    with pytest.raises(TypeError, match=r"call collect\(\)"):
        dedup.deduplicate(polars().lazy())


def test_a_missing_column_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"expected a field `Body` or `html`.*nearest is `body`"):
        dedup.deduplicate(pyarrow(), text="Body")
    with pytest.raises(ValueError, match="no column `keys`; the nearest is `key`"):
        dedup.deduplicate(pyarrow(), text="body", id="keys")
    with pytest.raises(ValueError, match="threshold must be above 0"):
        dedup.deduplicate(pyarrow(), text="body", threshold=0)


def test_an_empty_table_gets_its_columns() -> None:
    module = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    empty = module.table({"text": module.array([], module.string())})
    assert dedup.deduplicate(empty).num_rows == 0
    assert "group" in dedup.deduplicate(empty).column_names


@pytest.mark.parametrize("make", KINDS)
def test_a_column_without_texts_is_refused(make: Any) -> None:
    with pytest.raises(ValueError, match="row 0: the column 'key' must have texts, got 10"):
        dedup.deduplicate(make(), text="key")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": 0}, "text must be a column name, got 0"),
        ({"html": None}, "html must be a column name, got None"),
        ({"url": 1}, "url must be a column name, got 1"),
        ({"threshold": "x"}, "threshold must be a number, got 'x'"),
        ({"stages": "text"}, "stages must be a sequence of names, got 'text'"),
        ({"stages": None}, "stages must be a sequence of names, got None"),
        ({"keep": 3}, "keep must be a text such as longest,newest:date, got 3"),
    ],
)
def test_arguments_of_other_types_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        dedup.deduplicate(pyarrow(), **given)


def test_one_column_is_not_a_table() -> None:
    for table in (pandas()["body"], polars()["body"], pyarrow()["body"]):
        with pytest.raises(TypeError, match=r"table must come from .*, got (Series|ChunkedArray)"):
            dedup.deduplicate(table)


def test_a_stream_of_a_dataset_is_refused() -> None:
    with pytest.raises(TypeError, match="load the dataset without streaming=True"):
        dedup.deduplicate(datasets().to_iterable_dataset(), text="body")


def test_columns_of_one_name_are_refused_where_they_count() -> None:
    rows = [["One.", 1, 2], ["ONE.", 1, 2]]
    frame = type(pandas())
    for table in (frame(rows, columns=["text", "text", "x"]), twice("text")):
        with pytest.raises(ValueError, match="must be unique, got 'text' more than once"):
            dedup.deduplicate(table)
    for table in (frame(rows, columns=["text", "x", "x"]), twice("x")):
        assert len(dedup.deduplicate(table)) == 2


def twice(name: str) -> Any:
    module = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    columns = [module.array(["One.", "ONE."])] * 3
    return module.Table.from_arrays(columns, names=["text" if name != "text" else "x", name, name])


def test_columns_that_have_no_texts_as_names_do_not_count() -> None:
    frame = type(pandas())
    marked: Any = dedup.deduplicate(frame({"text": ["One.", "ONE."], 0: [1, 2]}))
    assert marked["group"].tolist() == [0, 0]
    with pytest.raises(ValueError, match="expected a field `0` or `html`"):
        dedup.deduplicate(frame({0: ["One.", "ONE."]}), text="0")


def test_views_of_texts_are_texts() -> None:
    module = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = module.table({"text": module.array(["One.", "ONE."], module.string_view())})
    assert as_lists(dedup.deduplicate(table))["group"] == [0, 0]
