"""Web addresses: one spelling for each, a key, and the set of those seen."""

from dedup.urls.canonical import Canonicaliser, canonical_url, url_key
from dedup.urls.rules import RULES, TRACKING_PARAMETERS, UrlRules
from dedup.urls.seen import KnownKeys, SeenUrls

__all__ = [
    "RULES",
    "TRACKING_PARAMETERS",
    "Canonicaliser",
    "KnownKeys",
    "SeenUrls",
    "UrlRules",
    "canonical_url",
    "url_key",
]
