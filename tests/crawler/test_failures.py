import pytest
from scrapy import exceptions
from scrapy.exceptions import IgnoreRequest, NotSupported
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet import defer, error
from twisted.web.client import ResponseFailed, ResponseNeverReceived

from dedup.scrapy.job.failure_reasons import reason_of


class LaterError(error.ConnectionLost):
    """Of a release to come."""


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (error.TimeoutError(), "timeout"),
        (error.TCPTimedOutError(), "timeout"),
        (TimeoutError(), "timeout"),
        (error.DNSLookupError(), "dns"),
        (error.ConnectionRefusedError(), "connection_refused"),
        (ConnectionRefusedError(), "connection_refused"),
        (error.ConnectError(), "connection_failed"),
        (error.NoRouteError(), "connection_failed"),
        (error.SSLError(), "connection_failed"),
        (error.ConnectionLost(), "connection_failed"),
        (error.ConnectionDone(), "connection_failed"),
        (LaterError(), "connection_failed"),
        (ResponseFailed([]), "connection_failed"),
        (ResponseNeverReceived([]), "connection_failed"),
        (defer.CancelledError(), "too_large"),  # Scrapy cancels what exceeds DOWNLOAD_MAXSIZE
        (NotSupported("Unsupported URL scheme 'foo'"), "unsupported_scheme"),
        (IgnoreRequest("Forbidden by robots.txt"), "robots"),
        (IgnoreRequest("max redirections reached"), "redirect_loop"),
        (IgnoreRequest("Filtered offsite request to 'a.example'"), "offsite"),
        (IgnoreRequest("Ignored: its body exceeded DOWNLOAD_MAXSIZE (1 B)"), "too_large"),
        (IgnoreRequest("for another reason"), "ignored"),
        (IgnoreRequest(), "ignored"),
        (HttpError(Response("http://a.example/", status=404)), "http_404"),
        (HttpError(Response("http://a.example/", status=503)), "http_503"),
        (UnicodeDecodeError("utf-8", b"\xb5", 0, 1, ""), "damaged"),  # of a Content-Encoding
        (RuntimeError("what nobody thought of"), "RuntimeError"),
    ],
)
def test_reasons(failure, reason):
    assert reason_of(failure) == reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("CannotResolveHostError", "dns"),
        ("DownloadCancelledError", "too_large"),
        ("DownloadConnectionRefusedError", "connection_refused"),
        ("DownloadFailedError", "connection_failed"),
        ("DownloadTimeoutError", "timeout"),
        ("ResponseDataLossError", "incomplete"),
        ("UnsupportedURLSchemeError", "unsupported_scheme"),
        ("ZstdError", "damaged"),
    ],
)
def test_reasons_of_scrapys_own_errors(name, reason):
    if not hasattr(exceptions, name):
        pytest.skip("not in this release of Scrapy")
    assert reason_of(getattr(exceptions, name)("what happened")) == reason
