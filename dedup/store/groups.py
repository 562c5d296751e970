"""Groups of a collection that were judged apart: each is a run of records, noted by its first."""

from dedup.store.sqlite import SqliteStore

_KEY = "group {:020d}"


def begin_group(store: SqliteStore) -> None:
    """Note that the next record begins a group."""
    store.database.set_meta(_KEY.format(store.count_records() + 1), "")


def group_start(store: SqliteStore, number: int) -> int:
    """The first record of the group that a record is of; 0: the collection has no groups."""
    query = "SELECT max(name) AS name FROM meta WHERE name BETWEEN 'group ' AND ?"
    (row,) = store.rows(query, [_KEY.format(number)])
    return int((row["name"] or "0").removeprefix("group "))
