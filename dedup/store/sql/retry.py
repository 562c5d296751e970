"""Failed URLs of a job, queued again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence

from dedup.store.records import (
    DONE,
    DUPLICATE_LINK,
    DUPLICATE_LINK_END,
    DUPLICATE_LINK_RANK,
    QUEUED,
    TRAP_RANK,
)
from dedup.store.sql.database import Connection, Database
from dedup.urls.parts import host_of

# What a site or its owner has decided, or what no second try will change.
_FINAL = {
    DUPLICATE_LINK,
    "host_pages",
    "host_too_complex",
    "ignored",
    "learned_rule",
    "invalid_url",
    "offsite",
    "private_address",
    "redirect_private",
    "redirect_invalid",
    "redirect_offsite",
    "redirect_scheme",
    "robots",
    "too_large",
    "trap",
    "unsupported_scheme",
}
_IS_PUT_OFF = f"rank >= {DUPLICATE_LINK_RANK} AND rank < {TRAP_RANK}"
_IS_ON_DUPLICATES = f"rank >= {DUPLICATE_LINK_RANK} AND rank < {DUPLICATE_LINK_END}"
_KEYS_PER_QUERY = 500  # well under SQLite's limit of parameters
_TEMPORARY_STATUSES = {"http_408", "http_425", "http_429"}


def queue_failed(database: Database, reasons: Collection[str] = ()) -> Counter[str]:
    """Take failed URLs off the record and queue them; return how many, by reason.

    Args:
        database: of a job that nothing else works on.
        reasons: which; none: those that another try may mend: hosts that could not be reached,
            timeouts, damaged or incomplete answers, HTTP 408, 425, 429 and 5xx.
    """
    queued: Counter[str] = Counter()
    with database.unit() as connection:
        rows = connection.execute(
            "SELECT s.number, s.reason, s.is_fetched, u.id, u.url, u.request FROM skipped AS s"
            " JOIN urls AS u ON u.url = s.url WHERE u.state = ? ORDER BY u.id",
            (DONE,),
        ).fetchall()
        for number, reason, is_fetched, row, url, request in rows:
            if reason not in reasons and (reasons or not _is_temporary(reason, is_fetched)):
                continue
            connection.execute("DELETE FROM skipped WHERE number = ?", (number,))
            connection.execute(
                "UPDATE urls SET state = ?, slot = ?, request = ?,"  # noqa: S608 -- constants
                f" rank = CASE WHEN {_IS_PUT_OFF} THEN 0 ELSE rank END WHERE id = ?",
                (QUEUED, host_of(url), _afresh(request), row),
            )
            queued[reason] += 1
        if queued:
            connection.execute("DELETE FROM meta WHERE name = 'finished'")
    return queued


def queue_skipped(database: Database, reason: str) -> Counter[str]:
    """Take URLs off the record that were not fetched, and queue them; return how many, by slot."""
    with database.unit(weight=0) as connection:
        rows = connection.execute(
            "SELECT s.number, u.id, u.slot FROM skipped AS s JOIN urls AS u ON u.url = s.url"
            " WHERE NOT s.is_fetched AND s.reason = ? AND u.state = ?",
            (reason, DONE),
        ).fetchall()
        return _take_off(connection, rows)


def queue_found(database: Database, keys: Sequence[bytes], *, with_skipped: bool) -> Counter[str]:
    """Queue links as new ones that were put off because they were found on duplicates alone.

    Returns the slots, each with the number of those that come off the record: `with_skipped`, the
    links that were not fetched for that reason are queued, too.
    """
    found: Counter[str] = Counter()
    with database.unit(weight=0) as connection:
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(part))
            put_off = f"{_IS_ON_DUPLICATES} AND key IN ({marks})"
            rows = connection.execute(
                f"UPDATE urls SET rank = rank - {DUPLICATE_LINK_RANK}"  # noqa: S608 -- constants
                f" WHERE state = {QUEUED} AND {put_off} RETURNING slot",
                part,
            ).fetchall()
            found.update(dict.fromkeys((slot for (slot,) in rows), 0))
            if with_skipped:
                rows = connection.execute(
                    "SELECT s.number, u.id, u.slot"  # noqa: S608 -- constants
                    " FROM urls AS u JOIN skipped AS s ON s.url = u.url"
                    f" WHERE u.state = {DONE} AND {put_off} AND s.reason = ?",
                    (*part, DUPLICATE_LINK),
                ).fetchall()
                found.update(_take_off(connection, rows))
    return found


def _take_off(connection: Connection, rows: Sequence[tuple[int, int, str]]) -> Counter[str]:
    """Delete records and queue their URLs as new ones; rows of record, URL and slot."""
    for number, row, _ in rows:
        connection.execute("DELETE FROM skipped WHERE number = ?", (number,))
        connection.execute("UPDATE urls SET state = ?, rank = 0 WHERE id = ?", (QUEUED, row))
    return Counter(slot for _, _, slot in rows)


def _is_temporary(reason: str, is_fetched: int) -> bool:
    if is_fetched:
        return reason in _TEMPORARY_STATUSES or reason.startswith("http_5")
    return reason not in _FINAL


def _afresh(request: bytes | None) -> bytes | None:
    """The request without the count of its retries."""
    if request is None or not request.startswith(b"{"):
        return request
    fields = json.loads(request)
    fields.get("meta", {}).pop("retry_times", None)
    return json.dumps(fields).encode()
