"""`--clusters`: of each document, to which group it belongs, so that others can choose from it."""

from typing import Any

from dedup.collection.judging import Judged

NAMES = ("id", "url", "group", "duplicate_of", "stage", "resemblance")


def cluster_record(judged: Judged) -> dict[str, Any]:
    """The record of a document; that of a kept row has its own id as its group."""
    known = {"id": judged.id, "url": judged.document.url, **judged.marks}
    return {name: known[name] for name in NAMES}
