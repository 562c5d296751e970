"""What a page gave that a refresh has visited: recorded here, or judged as any other page."""

from __future__ import annotations

from collections.abc import Callable

from scrapy import Request
from scrapy.http import Response

from dedup.scrapy.frontier.meta import KEY, REVISIT
from dedup.scrapy.job.job import Job
from dedup.scrapy.job.outcome import Outcome
from dedup.scrapy.job.urls import first_url
from dedup.scrapy.reading.reading import Reading
from dedup.scrapy.spiders.download_errors import outcome_of_move
from dedup.store import Page

_FAILED = {"fail": "failed: other_text", "cut": "failed: incomplete"}


class Visits:
    """Records the visits of a refresh that gave no new version.

    Args:
        is_skipped: is a page not to be stored, for what it declares?
        take_back: called with the request of a visit that is made once more later, and with what it
            gave.
    """

    def __init__(
        self,
        job: Job,
        *,
        is_skipped: Callable[[Reading], object],
        take_back: Callable[[Request, Reading], object],
    ) -> None:
        self._job = job
        self._is_skipped = is_skipped
        self._take_back = take_back

    def is_recorded(self, reading: Reading, response: Response) -> bool:
        """Is this the visit of a recorded page that gave no new version? Record what it gave.

        Of one that has moved, the page that it leads to is judged as any other, unless most pages
        of the host lead to it.
        """
        number, revisits = response.meta.get(REVISIT), self._job.urls.revisits
        if KEY not in response.meta or not revisits.number:
            return False
        if "redirect_urls" in response.meta:
            return self._is_moved(reading, response)
        is_duplicate = number is None and revisits.is_to_judge(response.url)
        if (number is None and not is_duplicate) or self._is_skipped(reading):
            return False
        belief = (
            revisits.belief_in_duplicate(response.url, reading.page)
            if number is None
            else revisits.belief(number, reading.page)
        )
        if belief == "later" and response.request is not None:
            self._put_off(response.request, reading)
        elif belief == "unchanged":
            self._note(response, "unchanged", reading.page)
        elif belief in _FAILED:
            self._note(response, _FAILED[belief])
        return belief != "store"

    def note_unchanged(self, response: Response) -> None:
        """Record the visit of a stored page that was not read, as it is known to be the same."""
        self._job.urls.revisits.note_unchanged(response.url)
        self._note(response, "unchanged")

    def note_skipped(self, response: Response, reason: str, detail: str) -> None:
        """Record the visit of a stored page that gave no page: it has failed, or shows a move."""
        if reason == "refresh":
            self._note_moved(response.url, detail)
        self._note(response, "moved" if reason == "refresh" else f"failed: {reason}")

    def _put_off(self, request: Request, reading: Reading) -> None:
        """Fetch a page that has been counted once more, after the visits of all others."""
        self._job.urls.requests.visit_later(request)
        self._take_back(request, reading)

    def _is_moved(self, reading: Reading, response: Response) -> bool:
        """Is this a redirect, in a refresh, whose target is not judged now?"""
        request = response.request
        if request is None:
            return False
        url, is_page = first_url(request), REVISIT in response.meta
        revisits = self._job.urls.revisits
        belief = revisits.belief_in_move(url, response.url, is_page=is_page)
        if belief == "later":
            self._put_off(request, reading)
        elif belief == "fail":
            self._job.record(outcome_of_move(request, is_page=is_page))
        elif is_page:
            self._note_moved(url, response.url)
        return belief != "store"

    def _note_moved(self, url: str, target: str) -> None:
        self._job.record(Outcome(kind="visited", url=url, reason="moved", target=target))

    def _note(self, response: Response, result: str, page: Page | None = None) -> None:
        """Record the visit of a stored page; `page`: as it was read, if it has not changed."""
        outcome = Outcome(
            kind="visited",
            url=response.url,
            finishes=self._job.urls.of_responses.finished(response),
            page=page,
            number=response.meta.get(REVISIT),
            reason=result,
        )
        self._job.record(outcome)
