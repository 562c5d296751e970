"""`--clusters`: of each document, to which group it belongs, so that others can choose from it."""

from typing import Any

from dedup.collection.judging import Judged


def cluster_record(judged: Judged) -> dict[str, Any]:
    """The record of a document; that of a kept row has its own id as its group."""
    marks = judged.marks
    return {
        "id": judged.id,
        "url": judged.document.url,
        "group": marks["group"],
        "duplicate_of": marks["duplicate_of"],
        "stage": marks["stage"],
        "resemblance": marks["resemblance"],
    }
