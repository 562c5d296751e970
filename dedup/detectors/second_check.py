"""The decision: is a candidate the same page? The same for all detectors.

A reader takes two pages for one if their texts are alike and their names are the same. So three
things count: the texts, the names (title and first heading), and whether the texts are the pages'
own, without what their site puts on every page.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from dedup.batch import Batch
from dedup.config import DedupConfig, NearNames
from dedup.detectors.base import Originals
from dedup.detectors.proposals import Pairs
from dedup.detectors.sketches import AskedSets, Sketches
from dedup.document import Document
from dedup.names import comparable_name, do_agree, url_file_name
from dedup.similarity import resemblance
from dedup.sites.second_look import Difference, IsRare, count_shingles, difference
from dedup.text import normalise
from dedup.urls.parts import host_of


def is_same_text(first: Document, second: Document, *, with_title: bool) -> bool:
    """Are the texts equal, after normalisation and up to white space? Empty ones never are."""
    if not with_title:
        one, other = first.normal_text, second.normal_text
        if not one or one.isspace():
            return False
        return one == other or one.split() == other.split()
    text = comparable_text(first, with_title=with_title)
    return text is not None and text == comparable_text(second, with_title=with_title)


def have_same_lines(first: Document, second: Document) -> bool:
    """Have two pages of one title the same lines, fifty words or more, be it in another order?

    Lists of related products come in any order, and the page is the same.
    """
    if first.sorted_lines is None or first.sorted_lines != second.sorted_lines:
        return False
    return comparable_name(_title(first)) == comparable_name(_title(second))


def comparable_text(document: Document, *, with_title: bool) -> str | None:
    """Return the normal text, on demand after the title, with single spaces; None if empty.

    The site's part and versions are removed from the title, because documentation repeats its
    version in every title. Where the text has no shingle, the title is kept unchanged.
    """
    text = " ".join(document.normal_text.split())
    if not text:
        return None
    if not with_title:
        return text
    if len(document.shingles):
        return comparable_name(_title(document)) + "\n" + text
    return " ".join(normalise(document.title).split()) + "\n" + text


_MAX_FURNITURE_SHINGLES = 6_000
"""No site known has as many words on every page; menus of 2,000 are rare."""

Objection = Literal["names", "furniture", "script"]
"""Why two documents with like texts are two pages: their names differ; what is alike may be what
their sites put on every page; one is in traditional Chinese, the other in simplified."""


def objection_to_equal(first: Document, second: Document, *, names: NearNames) -> Objection | None:
    """Why two documents of equal text are two pages; None: they are one.

    On one host other headings make two. Where a text may hold furniture, the titles of pages of one
    host have to agree, too: what is equal may be the furniture.
    """
    if not _are_of_one_host(first, second):
        return None
    if first.is_traditional != second.is_traditional:
        return "script"
    if names == "ignore":
        return None
    if not do_agree(first.heading, second.heading):
        return "names"
    have_own_texts = first.has_own_text and second.has_own_text
    return None if have_own_texts or do_agree(_title(first), _title(second)) else "names"


def objection_to_near(first: Document, second: Document, *, names: NearNames) -> Objection | None:
    """Why two documents of texts that resemble each other are two pages; None: they may be one.

    On one host both texts have to be the pages' own, and the names have to agree. On two hosts
    names differ for good reasons: there the resemblance decides. Where a text is not surely the
    page's own, the page must at least declare where its text stands, and one of the names agree.
    """
    have_own_texts = first.has_own_text and second.has_own_text
    if _are_of_one_host(first, second):
        if not have_own_texts and not _are_beyond_furniture(first, second):
            return "furniture"
        if first.is_traditional != second.is_traditional:
            return "script"
        return None if names == "ignore" or have_same_name(first, second) else "names"
    if have_own_texts:
        return None
    if "page" in (first.source, second.source):
        return "furniture"
    is_name_shared = any(
        one and comparable_name(one) == comparable_name(other)
        for one, other in ((_title(first), _title(second)), (first.heading, second.heading))
    )
    return None if is_name_shared else "furniture"


def have_same_name(first: Document, second: Document) -> bool:
    """Do titles (without the site's part) and headings agree?

    Versions count only where the files' names differ, too: release notes of one project lie side by
    side as `1.8.15.html` and `1.9.10.html`, versions of one page in two folders under one name. Of
    two pages that have neither title nor heading, the names are those of their files; of texts that
    a caller gives without them, they are not known.
    """
    titles, headings = (_title(first), _title(second)), (first.heading, second.heading)
    have_one_file_name = url_file_name(first.url) == url_file_name(second.url)
    if not any((*titles, *headings)):
        return have_one_file_name or "given" in (first.source, second.source)
    if not (do_agree(*titles) and do_agree(*headings)):
        return False
    return have_one_file_name or (
        do_agree(*titles, versions=True) and do_agree(*headings, versions=True)
    )


def _are_beyond_furniture(first: Document, second: Document) -> bool:
    """Are both texts longer than what a site has on every page, under one file name?

    A manual on one page exists in a few versions: too few pages to learn what they repeat.
    """
    shortest = min(len(first.shingles), len(second.shingles))
    return shortest >= _MAX_FURNITURE_SHINGLES and url_file_name(first.url) == url_file_name(
        second.url
    )


def _title(document: Document) -> str:
    return document.title if document.own_title is None else document.own_title


def _are_of_one_host(first: Document, second: Document) -> bool:
    if not (first.url and second.url):
        return False
    host = host_of(first.url)
    return bool(host) and host == host_of(second.url)


RareOn = Callable[[str], IsRare | None]
"""For a host, tells which lines are rare there now; None for one of which nothing is known."""


def of_no_host(_host: str) -> None:
    """Nothing is known of any host."""


_Compared = dict[int, tuple[ref[Document], float]]
"""Originals by their numbers, and how much they resemble a document."""


@dataclass(frozen=True, slots=True)
class Apart:
    """A candidate that differs from the document in the text around the main text.

    Attributes:
        original: its number.
        difference: in which lines and shingles the two differ.
    """

    original: int
    difference: Difference


class SecondCheck:
    """Compares a document with the earlier documents that a detector proposes.

    A candidate is a near duplicate if the sets of shingles have a resemblance of at least
    `near_resemblance`, and there is no `objection_to_near`. If one of the two is short, of fewer
    than `short_shingles` shingles, the texts and titles must be equal instead, after normalisation
    and up to white space, and in the titles up to version numbers; their resemblance is then 1. A
    text of white space alone equals nothing, not even itself.

    Where both are pages, what is rare on them around their texts is looked at, too: see
    `dedup.sites.second_look`. If that tells them apart, they are two pages.

    What was compared is remembered until the next document comes, so that several detectors may
    propose the same candidate.

    Args:
        originals: fetches a candidate.
        names: with "ignore", names do not count: only texts do.
        sketches: of originals, to rule out candidates without fetching them; None: of none. They
            change an answer only where a document has more candidates than are compared.
        rare_on: returns a test for the lines that are rare on a host.
        max_characters: compared for one document: of all its originals, and of the document once
            for each. Further originals count as other pages. None: no limit.
        remembers: are the resemblances of a document's text remembered for as long as it is there?
            It may be judged again soon.
    """

    def __init__(
        self,
        originals: Originals,
        *,
        near_resemblance: float,
        short_shingles: int,
        names: NearNames = "agree",
        sketches: Sketches | None = None,
        rare_on: RareOn = of_no_host,
        max_characters: int | None = None,
        remembers: bool = False,
    ) -> None:
        self._compared: WeakKeyDictionary[Document, _Compared] | None = (
            WeakKeyDictionary() if remembers else None
        )
        self._max_characters = max_characters
        self._n_characters, self._is_cut = 0, False
        self._sketches = sketches
        self.rare_on = rare_on
        self.near_resemblance = near_resemblance
        self.short_shingles = short_shingles
        self.names: NearNames = names
        self.original = originals
        self._asked_last: tuple[Batch, AskedSets] | None = None
        self._document: Document | None = None
        self._apart: list[Apart] = []
        self._known: dict[int, float] = {}

    @classmethod
    def of(cls, originals: Originals, config: DedupConfig, **more: Any) -> Self:
        """The check that a configuration describes; for `more` see `SecondCheck`."""
        return cls(
            originals,
            near_resemblance=config.near_resemblance,
            short_shingles=config.short_shingles,
            names=config.near_names,
            **more,
        )

    def is_short(self, document: Document) -> bool:
        return len(document.shingles) < self.short_shingles

    def is_equal(self, document: Document, original: Document) -> bool:
        """Are the texts equal, and where they are short the titles, and is it one page?"""
        if self._is_spent(document):
            return False
        self._n_characters += len(document.text) + len(original.text)
        with_title = self.is_short(document)
        return (
            document.key == original.key
            and is_same_text(document, original, with_title=with_title)
            and objection_to_equal(document, original, names=self.names) is None
        )

    def find_difference(
        self, document: Document, original: Document, *, n_shingles: int | None = None
    ) -> Difference | None:
        """In what two pages of similar texts differ; None: they do not.

        On one host, all rare lines are compared. Across hosts, names and surrounding text differ
        for good reasons: there, pages are compared only if both sites are known, by lines that are
        rare on both. A line of both pages may be rare on one host and furniture on the other, of
        which more pages were read; it would count as one that only one page has. Only the part of
        an original that a store keeps is compared, wherever the original comes from.

        Args:
            document: the page that comes.
            original: the one that stays.
            n_shingles: what `count_shingles` gives for the original's text, where that is not here.
        """
        if document.rest is None or original.rest is None:
            return None
        are_of_one_host = _are_of_one_host(document, original)
        here, there = (self.rare_on(host_of(each.url)) for each in (document, original))
        if not are_of_one_host and (here is None or there is None):
            return None
        own = document.rest.still_rare(here)
        rest = original.rest.kept().still_rare(there)
        if not are_of_one_host:
            own, rest = own.still_rare(there), rest.still_rare(here)
        found = difference(own, rest)
        if n_shingles is None:
            n_shingles = count_shingles(original.text)
        is_apart = found.tells_apart(
            have_same_name=not are_of_one_host or have_same_name(document, original),
            n_shingles=min(len(rest.shingles), n_shingles),
        )
        return found if is_apart else None

    def is_told_apart(self, document: Document, number: int, original: Document) -> bool:
        """Does the text around a candidate make it another page? Then note it."""
        if document.rest is None or original.rest is None:
            return False
        self._begin(document)
        found = self.find_difference(document, original)
        if found is not None and all(each.original != number for each in self._apart):
            self._apart.append(Apart(number, found))
        return found is not None

    def told_apart(self, document: Document) -> Apart | None:
        """The earliest candidate found to be another page than the document just compared."""
        if document is not self._document:
            return None
        return min(self._apart, key=attrgetter("original"), default=None)

    def promising(self, document: Document, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the candidates that sketches do not rule out, in their order."""
        if self._sketches is None or not len(numbers) or self.is_short(document):
            return numbers
        least = self.near_resemblance
        return numbers[self._sketches.may_resemble(document.shingles, numbers, at_least=least)]

    def left_of(self, batch: Batch, pairs: Pairs) -> Pairs:
        """Return the pairs that sketches do not rule out.

        All of them are with the index, or all within the batch.
        """
        if self._sketches is None or not len(pairs.places):
            return pairs
        asked, least = self._asked_of(batch), self.near_resemblance
        is_short = asked.lengths < self.short_shingles
        may = is_short[pairs.places]
        if pairs.numbers[0] >= 0:
            sketches = self._sketches
            may |= sketches.may_resemble_many(asked, pairs.places, pairs.numbers, at_least=least)
        else:
            others = -1 - pairs.numbers
            may |= is_short[others] | asked.may_resemble(pairs.places, others, at_least=least)
        return pairs.take(may)

    def sketch_many(
        self, batch: Batch, places: NDArray[np.intp], numbers: NDArray[np.int64]
    ) -> None:
        """Add the sketches of documents that were stored, where there are sketches."""
        if self._sketches is None:
            return
        asked = self._asked_of(batch)
        is_long = asked.lengths[places] >= self.short_shingles
        places, numbers = places[is_long], numbers[is_long]
        self._sketches.add_many(numbers, asked.lengths[places], asked.sketches[places])

    def sketch(self, number: int, document: Document) -> None:
        """Add the sketch of a document that was stored, where there are sketches."""
        if self._sketches is not None and not self.is_short(document):
            self._sketches.add(number, document.shingles)

    def forget(self, number: int) -> None:
        """Forget the sketch of a document: its text has changed."""
        if self._sketches is not None:
            self._sketches.forget(number)

    def _asked_of(self, batch: Batch) -> AskedSets:
        """The sets of a batch, about which several detectors ask."""
        if self._asked_last is None or self._asked_last[0] is not batch:
            self._asked_last = batch, AskedSets(batch)
        return self._asked_last[1]

    def nearest(
        self, document: Document, numbers: Iterable[int]
    ) -> tuple[int, float | None] | None:
        """Return the near duplicate of highest resemblance and that, or None.

        Of several equally near, the smallest number.
        """
        near = [
            (-likeness, number)
            for number in numbers
            if (likeness := self.likeness(document, number)) >= self.near_resemblance
        ]
        if not near:
            return None
        negative, number = min(near)
        return number, -negative

    def likeness(self, document: Document, number: int) -> float:
        """Return the resemblance to an original; 0 where they are no near duplicates."""
        self._begin(document)
        if number not in self._known:
            if self._is_spent(document):
                return 0.0
            original = self.original(number)
            self._n_characters += len(document.text) + len(original.text)
            likeness = self._remembered(document, number, original)
            if likeness >= self.near_resemblance and self.is_told_apart(document, number, original):
                likeness = 0.0
            self._known[number] = likeness
        return self._known[number]

    def compare_again(self) -> None:
        """Forget what was compared for the last document, and how much."""
        self._document = None

    def was_cut(self, document: Document) -> bool:
        """Did `max_characters` end the last comparison of this document early?"""
        return document is self._document and self._is_cut

    def _is_spent(self, document: Document) -> bool:
        """Has the document been compared with as much as it may be?"""
        self._begin(document)
        if self._max_characters is None or self._n_characters <= self._max_characters:
            return False
        self._is_cut = True
        return True

    def _begin(self, document: Document) -> None:
        if document is not self._document:
            self._document, self._known, self._apart = document, {}, []
            self._n_characters, self._is_cut = 0, False

    def _remembered(self, document: Document, number: int, original: Document) -> float:
        """What `compare` says, or has said of the two."""
        if self._compared is None:
            return self.compare(document, original)
        compared = self._compared.setdefault(document, {})
        known = compared.get(number)
        if known is None or known[0]() is not original:  # it has changed
            known = compared[number] = ref(original), self.compare(document, original)
        return known[1]

    def compare(self, document: Document, original: Document) -> float:
        """Return the resemblance by texts and names alone; 0 where these are of two pages."""
        if document.key != original.key:
            return 0.0
        if self.is_short(document) or self.is_short(original):
            is_same = is_same_text(document, original, with_title=True)
            return float(
                (is_same or have_same_lines(document, original))
                and objection_to_equal(document, original, names=self.names) is None
            )
        if objection_to_near(document, original, names=self.names) is not None:
            return 0.0
        return resemblance(document.shingles, original.shingles, at_least=self.near_resemblance)
