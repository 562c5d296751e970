"""Arrow schemas as Spark names them."""

import pyarrow as pa

_NAMES = {
    pa.int8(): "tinyint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.list_(pa.int64()): "array<bigint>",
    pa.list_(pa.float64()): "array<double>",
    pa.list_(pa.string()): "array<string>",
}


def spark_schema(schema: pa.Schema) -> str:
    """The schema in Spark's notation.

    >>> spark_schema(pa.schema([("number", pa.int64()), ("text", pa.string())]))
    '`number` bigint, `text` string'
    """
    return ", ".join(f"`{field.name}` {_NAMES[field.type]}" for field in schema)
