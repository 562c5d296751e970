"""Settings of earlier releases, and what to do about each."""

_RULES = "use DEDUP_URL_RULES instead, as suggested by dedup stats JOB --by pattern and the report"

_CONSTANT = "it is {} in every crawl"
_DETECTION = "it is {} in every crawl; the library takes others in dedup.DedupConfig"

REMOVED_SETTINGS = {
    "DEDUP_PROMETHEUS_SECONDS": _CONSTANT.format(15),
    "DEDUP_ROBOTS_WAIT_SECONDS": _CONSTANT.format(300),
    "DEDUP_SENTENCES_COUNT": _DETECTION.format(3),
    "DEDUP_SHORT_SHINGLES": _DETECTION.format(50),
    "DEDUP_SIMHASH_BITS": _DETECTION.format(64),
    "DEDUP_STOP_SECONDS": _CONSTANT.format(5),
    "DEDUP_STORE_GROUP_PAGES": _CONSTANT.format(100),
    "DEDUP_STORE_GROUP_SECONDS": _CONSTANT.format(1),
    "DEDUP_URL_CAPACITY": "the filter grows by itself",
    "DEDUP_URL_ERROR_RATE": _CONSTANT.format("1e-6"),
    "DEDUP_URL_LEARNING": _RULES,
    "DEDUP_URL_LEARNING_LOSS": _RULES,
    "DEDUP_URL_LEARNING_SEED": _RULES,
    "DEDUP_WORKER_HOSTS": "a process has up to four hosts for each of CONCURRENT_REQUESTS",
}
"""By name: what to do, as a sentence's part. A crawl warns of such a setting, and starts."""
