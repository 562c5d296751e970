"""The reasons for which a URL gave no page: one word each, for the counts."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

# By class name: Scrapy 2.13 raises Twisted's errors, later releases their own.
_REASONS = {
    "BadGzipFile": "damaged",
    "CannotResolveHostError": "dns",
    "ConnectError": "connection_failed",
    "ConnectionClosed": "connection_failed",
    "ConnectionRefusedError": "connection_refused",
    "DNSLookupError": "dns",
    "DownloadCancelledError": "too_large",
    "CancelledError": "too_large",
    "DownloadConnectionRefusedError": "connection_refused",
    "DownloadFailedError": "connection_failed",
    "DownloadTimeoutError": "timeout",
    "ResponseDataLossError": "incomplete",
    "ResponseFailed": "connection_failed",
    "ResponseNeverReceived": "connection_failed",
    "TCPTimedOutError": "timeout",
    "TimeoutError": "timeout",
    "UnsupportedURLSchemeError": "unsupported_scheme",
    "NotSupported": "unsupported_scheme",
    # The body is not compressed as its header says (zlib, brotli; zstd), or the header is no text.
    "error": "damaged",
    "ZstdError": "damaged",
    "UnicodeDecodeError": "damaged",
}
_IGNORED = {
    "robots.txt": "robots",
    "offsite": "offsite",
    "max redirections": "redirect_loop",
    "exceeded DOWNLOAD_MAXSIZE": "too_large",  # after decompression
}


class NotSentError(IgnoreRequest):
    """The request was not sent because the crawl stops; its URL stays queued."""


def reason_of(error: BaseException) -> str:
    """A short name for a download's failure, for example `timeout` or `http_404`."""
    if isinstance(error, HttpError):
        return f"http_{error.response.status}"
    if isinstance(error, IgnoreRequest):
        message = str(error)
        return next((name for part, name in _IGNORED.items() if part in message), "ignored")
    names = [kind.__name__ for kind in type(error).__mro__]
    return next((_REASONS[name] for name in names if name in _REASONS), names[0])
