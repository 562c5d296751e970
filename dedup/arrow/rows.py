"""Rows of files: their places in the collection, and what they say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from dedup.collection.columns import Columns, Fields, NoTextError, fields_of
from dedup.collection.documents import name_of, object_of
from dedup.collection.rows import json_line
from dedup.collection.rules import Rules
from dedup.collection.survivor import readings_of
from dedup.collection.writing.json_lines import marked_line
from dedup.store.records import storable

NUMBERED = pa.schema([("place", pa.int64()), ("value", pa.string())])
"""`place`: from 0, of all lines of the collection that are not blank. `value`: null where the line
is not UTF-8."""

READ = pa.schema(
    [
        ("place", pa.int64()),
        ("value", pa.string()),
        ("name", pa.string()),
        ("text", pa.string()),
        ("html", pa.string()),
        ("body", pa.binary()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("group", pa.string()),
        ("reason", pa.string()),
        ("lacks_text", pa.bool_()),
        ("present", pa.list_(pa.string())),
        ("readings", pa.list_(pa.float64())),
    ]
)
"""`value`: the line as it came; of other formats, the row as a line. `name`: of the row, as JSON;
null: its number. `html`: the markup that the text is to be taken out of, where there is no text.
`body`: of a page of a web archive, whose line still lacks title and text, the SHA-256 of its bytes.
`reason`: why the row is not a document; then it has neither text nor markup. `lacks_text`: it is a
sound row all the same. `present`: those of the columns named by the user that the row has.
`readings`: `readings_of` the columns by which rows are preferred, one after the other."""

MAX_ROW_CHARACTERS = 64 * 2**20

Block = tuple[int, str, int]
"""Which of the inputs, which file of it, and where in the file the block begins."""


def numbered(
    batches: Iterator[pa.RecordBatch], starts: Mapping[Block, int]
) -> Iterator[pa.RecordBatch]:
    """Give each line its place: that of its block's first line, and on from there.

    A block is read from its beginning to its end by one task, whichever it is: so a line has the
    same place however often, and in whatever order, tasks are run.

    Args:
        batches: `input`, `file`, `block` and `value`.
        starts: the place of each block's first line.
    """
    seen: dict[Block, int] = {}
    for batch in batches:
        keys = (batch.column(name).to_pylist() for name in ("input", "file", "block"))
        places = []
        for block in zip(*keys, strict=True):
            places.append(starts[block] + seen.get(block, 0))
            seen[block] = seen.get(block, 0) + 1
        yield pa.record_batch([pa.array(places, pa.int64()), batch.column("value")], NUMBERED)


def read(
    batches: Iterator[pa.RecordBatch], columns: Columns, rules: Rules
) -> Iterator[pa.RecordBatch]:
    """Read lines of JSON: what is `NUMBERED`."""
    for batch in batches:
        places = batch.column("place").to_pylist()
        lines = batch.column("value").to_pylist()
        rows = [
            _row(place, line, columns, rules) for place, line in zip(places, lines, strict=True)
        ]
        yield pa.RecordBatch.from_pylist(rows, READ)


def _row(place: int, line: str | None, columns: Columns, rules: Rules) -> dict[str, object]:
    row: dict[str, object] = {"place": place, "value": line}
    try:
        if line is None:
            raise ValueError("it is not UTF-8")
        if len(line) > MAX_ROW_CHARACTERS:
            raise ValueError("it is longer than 64 Mi characters")
        fields = fields_of(object_of(line.removeprefix("\ufeff").encode()), columns)
    except NoTextError as error:
        return {**row, **read_without_text(error, rules)}
    except (ValueError, RecursionError) as error:
        return {**row, "reason": str(error)}
    return {**row, **columns_read(fields, rules)}


def read_without_text(error: NoTextError, rules: Rules) -> dict[str, object]:
    """What is `READ` of a sound row that has no text."""
    return {**columns_read(error.fields, rules), "reason": str(error), "lacks_text": True}


def columns_read(fields: Fields, rules: Rules) -> dict[str, object]:
    """What is `READ` of a row's fields, `Fields.others` being those of `rules`.

    JSON can escape halves of surrogate pairs, for which Arrow has no place: they are replaced.
    """
    name = name_of(fields)
    named = None if name is None else json.dumps(name, default=str, ensure_ascii=False)
    others = dict(zip(rules.others, fields.others, strict=True))
    ranked = [each.column for each in rules.criteria if each.column is not None]
    return {
        "name": storable(named),
        "text": storable(fields.text),
        "html": storable(fields.html),
        "url": storable(fields.url),
        "title": storable(fields.title),
        "group": None if rules.within is None else storable(repr(others[rules.within])),
        "present": sorted(fields.present),
        "readings": [float(each) for name in ranked for each in readings_of(others[name])],
    }


MARKED = pa.schema([("value", pa.string())])


def spliced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add the columns of `--mark` to lines; what they are named is JSON."""
    for batch in batches:
        yield _lines(marked_line(row["value"].encode(), _marks(row)) for row in batch.to_pylist())


def records(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Records of duplicates as lines."""
    for batch in batches:
        yield _lines(json_line(_record(row)) for row in batch.to_pylist())


def clustered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Records of documents with their groups as lines."""
    for batch in batches:
        yield _lines(json_line(_cluster(row)) for row in batch.to_pylist())


def unfit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Records of broken rows, and of those without text, as lines."""
    for batch in batches:
        yield _lines(json_line(_unfit(row)) for row in batch.to_pylist())


def _unfit(row: dict[str, Any]) -> dict[str, object]:
    place = f"row {row['place'] + 1}"
    return {"file": None, "place": place, "reason": row["reason"], "row": row["value"]}


def _cluster(row: dict[str, Any]) -> dict[str, object]:
    marks = _marks(row)
    return {
        "id": _value(row["name"]),
        "url": row["url"] or None,
        "group": marks["group"],
        "duplicate_of": marks["duplicate_of"],
        "stage": marks["stage"],
        "resemblance": marks["resemblance"],
    }


def _marks(row: dict[str, Any]) -> dict[str, object]:
    return {
        "duplicate_of": _value(row["duplicate_of"]),
        "resemblance": row["resemblance"],
        "stage": row["stage"],
        "group": _value(row["group"]),
        **({"passages": _value(row["passages"])} if "passages" in row else {}),
    }


def _record(row: dict[str, Any]) -> dict[str, object]:
    return {
        "id": _value(row["name"]),
        "url": row["url"],
        "duplicate_of": _value(row["duplicate_of"]),
        "duplicate_of_url": row["duplicate_of_url"],
        "stage": row["stage"],
        "distance": row["distance"],
        "resemblance": row["resemblance"],
        "first_seen": None,
    }


def _lines(lines: Iterable[bytes]) -> pa.RecordBatch:
    texts = [line.decode().rstrip("\n") for line in lines]
    return pa.record_batch([pa.array(texts, pa.string())], MARKED)


def _value(name: str | None) -> object:
    return None if name is None else json.loads(name)
