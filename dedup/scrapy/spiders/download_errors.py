"""What became of a URL whose request ended with an error."""

from __future__ import annotations

from scrapy import Request
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from dedup.scrapy.job.failure_reasons import reason_of
from dedup.scrapy.job.outcome import Outcome, OutcomeKind
from dedup.scrapy.job.revisits import result_of
from dedup.scrapy.job.urls import finished_request, first_url
from dedup.scrapy.middlewares.redirect import AlreadyRecorded, NotFollowed


def outcome_of_error(error: BaseException, request: Request) -> Outcome | None:
    """What became of a URL; None: its page is recorded under the same URL already."""
    url, finishes = first_url(request), finished_request(request)
    if isinstance(error, AlreadyRecorded):
        if error.target == url:
            return None
        return Outcome(
            kind="alias", url=url, finishes=finishes, target=error.target, reason="redirect"
        )
    kind: OutcomeKind = "skipped" if isinstance(error, HttpError) else "failed"
    return Outcome(
        kind=kind,
        url=url,
        finishes=finishes,
        reason=error.reason if isinstance(error, NotFollowed) else reason_of(error),
        detail=str(error),
        size_bytes=len(error.response.body) if isinstance(error, HttpError) else 0,
    )


def outcome_of_visit(error: BaseException, request: Request) -> Outcome:
    """What became of the visit of a stored page in a refresh; the stored page does not change."""
    result, target = result_of(reason_of(error)), ""
    if isinstance(error, AlreadyRecorded):
        result, target = "moved", error.target
    elif isinstance(error, NotFollowed):
        result = f"failed: {error.reason}"
        if error.reason.startswith("redirect_"):  # other reasons: the host cannot be reached
            result, target = "moved", error.target
    return Outcome(
        kind="visited",
        url=first_url(request),
        finishes=finished_request(request),
        reason=result,
        target=target,
    )


def outcome_of_move(request: Request, *, is_page: bool) -> Outcome:
    """What became of a URL that redirects where most pages of its host do.

    `is_page`: it is that of a stored page; the end of the refresh decides about it.
    """
    return Outcome(
        kind="visited" if is_page else "skipped",
        url=first_url(request),
        finishes=finished_request(request),
        reason="moved" if is_page else "redirect_to_one_page",
        target=request.url if is_page else "",
    )


def request_of(failure: Failure) -> Request:
    """The request that failed: Scrapy adds it to the failure."""
    request: Request = getattr(failure, "request")  # noqa: B009 -- no attribute that Twisted names
    return request
