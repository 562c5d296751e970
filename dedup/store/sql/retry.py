"""Failed URLs of a job, queued again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection

from dedup.store.records import DONE, QUEUED
from dedup.store.sql.database import Database
from dedup.urls.parts import host_of

# What a site or its owner has decided, or what no second try will change.
_FINAL = {
    "host_pages",
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
                "UPDATE urls SET state = ?, slot = ?, request = ? WHERE id = ?",
                (QUEUED, host_of(url), _afresh(request), row),
            )
            queued[reason] += 1
        if queued:
            connection.execute("DELETE FROM meta WHERE name = 'finished'")
    return queued


def queue_skipped(database: Database, reason: str, detail: str) -> Counter[str]:
    """Take URLs off the record that were not fetched, and queue them; return how many, by slot."""
    queued: Counter[str] = Counter()
    with database.unit(weight=0) as connection:
        rows = connection.execute(
            "SELECT s.number, u.id, u.slot FROM skipped AS s JOIN urls AS u ON u.url = s.url"
            " WHERE NOT s.is_fetched AND s.reason = ? AND s.detail = ? AND u.state = ?",
            (reason, detail, DONE),
        ).fetchall()
        for number, row, slot in rows:
            connection.execute("DELETE FROM skipped WHERE number = ?", (number,))
            connection.execute("UPDATE urls SET state = ?, rank = 0 WHERE id = ?", (QUEUED, row))
            queued[slot] += 1
    return queued


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
