"""Settings of earlier releases, and what to do about each."""

_RULES = "dedup stats JOB --by pattern and the report suggest DEDUP_URL_RULES in place of it"

REMOVED_SETTINGS = {
    "DEDUP_URL_LEARNING": _RULES,
    "DEDUP_URL_LEARNING_LOSS": _RULES,
    "DEDUP_URL_LEARNING_SEED": _RULES,
}
"""By name: what to do, as a sentence's part. A crawl warns of such a setting, and starts."""
