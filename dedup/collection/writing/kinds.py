"""The types of columns in Parquet, named without loading pyarrow."""

from collections.abc import Mapping, Sequence
from typing import Any, Union

Kind = Union[str, Sequence["Kind"], Mapping[str, "Kind"]]  # noqa: UP007 -- it names itself
"""A type: "string", "int32", "float64", "bool", or "timestamp" (of texts in ISO 8601, with a
zone); `[kind]` is a list of such values, `{name: kind}` an object with such fields."""

TIMESTAMP = "timestamp"


def arrow_type(arrow: Any, kind: Kind) -> Any:
    """The type of pyarrow."""
    if kind == TIMESTAMP:
        return arrow.timestamp("ms", tz="UTC")
    if isinstance(kind, str):
        return getattr(arrow, "bool_" if kind == "bool" else kind)()
    if isinstance(kind, Mapping):
        return arrow.struct([(name, arrow_type(arrow, each)) for name, each in kind.items()])
    return arrow.list_(arrow_type(arrow, kind[0]))
