"""A selection of records as the condition of a query."""

from dedup.store.selection import Selection
from dedup.store.sql.database import Database


def where(selection: Selection, table: str, database: Database) -> tuple[str, list[object]]:
    """Return the condition on the rows `r` of `pages` or `duplicates`, and its parameters."""
    parts: list[tuple[str, list[object]]] = []
    if selection.hosts:
        parts.append((f"r.host IN ({_marks(selection.hosts)})", [*selection.hosts]))
    if selection.stages and table == "duplicates":
        parts.append((f"r.stage IN ({_marks(selection.stages)})", [*selection.stages]))
    elif selection.stages:
        originals = f"SELECT original FROM duplicates WHERE stage IN ({_marks(selection.stages)})"  # noqa: S608 -- only marks
        parts.append((f"r.number IN ({originals})", [*selection.stages]))
    if selection.since is not None:
        parts.append(("r.fetched_at >= ?", [selection.since]))
    if selection.url is not None:
        parts.append(database.matching(table, selection.url))
    condition = " AND ".join(text for text, _ in parts) or "TRUE"
    return condition, [value for _, values in parts for value in values]


def _marks(values: tuple[str, ...]) -> str:
    return ",".join("?" * len(values))
