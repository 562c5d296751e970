"""What a rendered page says of its rendering, and why a page could not be rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dedup.rendering.inputs import Answer

Reason = Literal[
    "timeout", "crashed", "too_large", "too_many_requests", "refused", "status", "failed"
]

StoppedBy = Reason | Literal["budget"]


@dataclass(frozen=True, slots=True)
class DataAnswer:
    """An answer that a script of the page asked for with GET, and that is data, not code.

    Attributes:
        digest: of its bytes: the first 16 bytes of their SHA-256, in hexadecimal.
    """

    url: str
    digest: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What rendering a page took; `response.meta["rendering"]` of a rendered page.

    Attributes:
        seconds: from the start until the page was read.
        n_requests: that the page made; answers from the browser's cache count, too.
        n_bytes: that passed between the browser and servers, in both directions.
        n_own: requests that the crawl's own hosts got, or connections, if these are encrypted.
        third_parties: hosts out of the crawl's scope that were connected to, sorted.
        refused: hosts and ports that were not connected to, sorted.
        data: the answers that the page's data came in, by URL.
        made_from: the scripts and the answers of the crawl's own hosts that the page was made from;
            None: they do not tell whether it is the same, see `dedup.scrapy.rendering.answers`.
        leads_to: the URL of another page that a script, a form or a refresh would have shown
            instead of this one; it was not fetched. None: there was none.
        n_scrolls: how often scrolling, or pressing a button, has brought more.
        stopped_by: what ended the scrolling while more came: the budget, or a bound of the page.
            None: it was not scrolled, or nothing more came.
    """

    seconds: float
    n_requests: int
    n_bytes: int
    n_own: int = 0
    third_parties: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    data: tuple[DataAnswer, ...] = ()
    made_from: tuple[Answer, ...] | None = None
    leads_to: str | None = None
    n_scrolls: int = 0
    stopped_by: StoppedBy | None = None

    @property
    def data_digests(self) -> tuple[str, ...]:
        """The digests of `data`, in its order."""
        return tuple(answer.digest for answer in self.data)


class RenderingError(Exception):
    """A page could not be rendered.

    Attributes:
        reason: a word, for counts.
        detail: for people.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason: Reason = reason
        self.detail = detail
