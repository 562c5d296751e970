"""Learned URL rules and the forms of addresses, in a job's database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dedup.store.records import storable
from dedup.store.sql.database import Database
from dedup.urls.learning.life import HostRule

_KEYS_PER_QUERY = 500  # well under SQLite's limit of parameters


class SqlUrlKnowledge:
    """See `dedup.urls.learning.records.UrlKnowledge`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rules(self, host: str) -> list[HostRule]:
        return self._each("WHERE host = ? ORDER BY number", [storable(host)])

    def all_rules(self) -> list[HostRule]:
        return self._each("ORDER BY host, number")

    def put_rules(self, rules: Sequence[HostRule]) -> None:
        new = "INSERT INTO url_rules (host, name, value) VALUES (?, ?, ?) RETURNING number"
        known = "UPDATE url_rules SET host = ?, name = ?, value = ? WHERE number = ?"
        with self._database.unit(weight=0) as connection:
            for rule in rules:
                row = storable(rule.host), storable(rule.name), rule.to_json()
                if rule.number:
                    connection.execute(known, (*row, rule.number))
                else:
                    rule.number = int(connection.execute(new, row).fetchone()[0])

    def forms(self, keys: Sequence[bytes]) -> dict[bytes, int | None]:
        found: dict[bytes, int | None] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, page FROM url_forms WHERE key IN ({marks})"  # noqa: S608 -- only marks
            with self._database.reporting():
                found.update(self._database.connection.execute(query, part).fetchall())
        return found

    def add_forms(self, forms: Iterable[tuple[bytes, int | None]]) -> None:
        query = (
            "INSERT INTO url_forms VALUES (?, ?)"
            " ON CONFLICT (key) DO UPDATE SET page = coalesce(url_forms.page, excluded.page)"
        )
        with self._database.unit(weight=0) as connection:
            connection.executemany(query, list(forms))

    def _each(self, condition: str, values: Sequence[object] = ()) -> list[HostRule]:
        query = f"SELECT number, host, name, value FROM url_rules {condition}"  # noqa: S608 -- ours
        with self._database.reporting():
            rows = self._database.connection.execute(query, values).fetchall()
        return [HostRule.from_json(*row) for row in rows]
