"""Times as exports, feeds and items have them."""

from datetime import UTC, datetime


def iso_time(seconds: float) -> str:
    """A time in seconds since 1970 as ISO 8601: in UTC, with milliseconds, cut off after these.

    >>> iso_time(1_700_000_000.25)
    '2023-11-14T22:13:20.250Z'
    """
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
