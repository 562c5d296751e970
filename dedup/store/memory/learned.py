"""What is learned of the hosts of a job, in memory."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from dedup.sites.outline import Outline
from dedup.store.records import Outlined, Page
from dedup.urls.parts import host_of


class MemoryLearned:
    """See `dedup.store.interface.HostKnowledge`."""

    def __init__(self, names_of: Callable[[int], tuple[str, str | None]]) -> None:
        """Take the function that gives title and URL of a stored page."""
        self._names_of = names_of
        self._known: dict[str, bytes] = {}
        self._encodings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._waiting: dict[int, tuple[Page, Outline]] = {}
        self._next_place = 1
        self._early: defaultdict[str, dict[int, Outline]] = defaultdict(dict)

    # --- Sites -----------------------------------------------------------------------------------

    def site(self, host: str) -> bytes | None:
        return self._known.get(host)

    def hosts(self) -> list[str]:
        return sorted(self._known)

    def set_site(self, host: str, value: bytes) -> None:
        self._known[host] = value

    def before_commit(self, call: Callable[[], object]) -> None:
        """Nothing is committed here: what a process has learned is in its memory."""

    # --- Encodings -------------------------------------------------------------------------------

    def encoding(self, host: str) -> str | None:
        counts = self._encodings.get(host)
        return min(counts, key=lambda name: (-counts[name], name)) if counts else None

    def add_encoding(self, host: str, encoding: str) -> None:
        self._encodings[host][encoding] += 1

    # --- Pages that wait -------------------------------------------------------------------------

    def add_waiting(self, page: Page, outline: Outline) -> int:
        place = self._next_place
        self._next_place += 1
        body = page.body or b""
        kept = replace(page, id="", key="", own_title=None, site_version=None, body=body)
        self._waiting[place] = kept, outline
        return place

    def waiting(self, host: str) -> list[Outlined]:
        return [
            Outlined(place, page.title, page.url, outline)
            for place, (page, outline) in self._waiting.items()
            if host_of(page.url) == host
        ]

    def waiting_page(self, place: int) -> Page:
        return self._waiting[place][0]

    def drop_waiting(self, place: int) -> None:
        self._waiting.pop(place, None)

    def count_waiting(self) -> dict[str, int]:
        return dict(Counter(host_of(page.url) for page, _ in self._waiting.values()))

    # --- Early pages -----------------------------------------------------------------------------

    def add_early(self, number: int, host: str, outline: Outline, *, at_most: int) -> None:
        pages = self._early[host]
        pages[number] = outline
        for each in sorted(pages)[:-at_most]:
            del pages[each]

    def early(self, host: str) -> list[Outlined]:
        pages = sorted(self._early.get(host, {}).items())
        return [Outlined(number, *self._names_of(number), outline) for number, outline in pages]

    def count_early(self, host: str) -> int:
        return len(self._early.get(host, ()))

    def drop_early(self, numbers: Sequence[int]) -> None:
        for pages in self._early.values():
            for number in numbers:
                pages.pop(number, None)
