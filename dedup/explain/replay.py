"""A replay of the cascade's decision on a page of the job.

The detectors are the real ones, rebuilt from the store as when a crawl resumes, with the pages
stored before this one. Data that were not kept are missing, and the output says so: bodies and rare
lines of dropped pages.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from dedup.config import DedupConfig
from dedup.detectors import (
    CASCADE,
    Detector,
    SecondCheck,
    Signer,
    default_detectors,
    default_signers,
)
from dedup.detectors.key import KeyRecord
from dedup.detectors.second_check import is_same_text
from dedup.document import Document, Match
from dedup.errors import StateError
from dedup.explain.comparison import Comparison, Decision, Look, compare, decide
from dedup.explain.origin import site_of, with_whole_rest
from dedup.keys import differing
from dedup.sites.differing_lines import lines_of_body
from dedup.sites.second_look import IsRare
from dedup.sites.site import Site
from dedup.store import JobStore, Page
from dedup.store.query_results import ApartPage
from dedup.urls.parts import host_of

_MAX_CANDIDATES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored page that a stage compared the document with."""

    number: int
    url: str | None
    comparison: Comparison
    verdict: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What a stage did with a document.

    Attributes:
        is_asked: False: an earlier stage has already decided.
        words: what it found, or why it did not apply.
        signature: that of the document, in readable form; None: the stage does not apply.
        count: the number of candidates that it compared.
        candidates: the most similar ones, at most 10.
        match: its decision, if it found a duplicate.
    """

    stage: str
    is_asked: bool
    words: str
    signature: Any = None
    count: int = 0
    candidates: tuple[Candidate, ...] = ()
    match: Match | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItem:
    """A stored item with the same text, and the fields in which it differs."""

    number: int
    url: str | None
    fields: tuple[str, ...]


class Replay:
    """The job's cascade, rebuilt from its store and settings.

    Raises:
        StateError: the store was not made by the default cascade.
    """

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._schemes = store.schemes()
        self.config = config_of(self._schemes, json.loads(store.meta("settings") or "{}"))
        self._asked: list[int] = []
        self._recorded: ApartPage | None = None
        self._site: Callable[[str], Site] = cache(lambda host: site_of(store, host))
        every = default_signers(self.config)
        self.signers = [each for each in every if each.stage in self._schemes]
        found = {each.stage: json.loads(json.dumps(each.scheme)) for each in self.signers}
        if found != self._schemes:
            raise StateError(
                store.location,
                "its detectors differ from the default cascade",
                "Read it with the release that made it",
            )
        self._check = self._new_check()

    def explain(self, document: Document, *, before: int) -> list[StageReport]:
        """Run each stage on `document`, among the pages with numbers less than `before`."""
        document = self._as_judged(document)
        self._recorded = self._store.explain.apart(before)
        self._check = self._new_check()
        cascade = default_detectors(self._fetch, self.config, check=self._check, bodies=self._body)
        detectors = {detector.stage: detector for detector in cascade}
        reports: list[StageReport] = []
        for signer in self.signers:
            if any(each.match for each in reports):
                words = "not run: already decided"
                reports.append(StageReport(stage=signer.stage, is_asked=False, words=words))
            else:
                detector = detectors[signer.stage]
                self._load(detector, before)
                reports.append(self._explain(signer, detector, document))
        return reports

    def other_of_text(self, document: Page, *, before: int) -> OtherItem | None:
        """The first earlier item with the same text but different fields; None: there is none.

        Applies only to items with key fields.
        """
        if not document.key:
            return None
        record = KeyRecord()
        self._load(record, before)
        number = record.first_of_text(document)
        if number is None:
            return None
        first = self._store.page(number)
        names = differing(document.key, first.key)
        if not names or not is_same_text(document, first, with_title=False):
            return None
        return OtherItem(number=number, url=first.url, fields=tuple(names))

    def look(self, document: Document, original: Document) -> Look | None:
        """How the second look distinguishes a page from an earlier one; None: it does not."""
        return self._look(self._as_judged(document), original)

    def _look(self, document: Document, original: Document) -> Look | None:
        found = self._check.find_difference(document, original)
        if found is None:
            return None
        lines = lines_of_body(document, found.lines) if isinstance(document, Page) else ()
        return Look(
            only_page=found.only_first,
            only_original=found.only_second,
            shared=found.shared,
            lines=tuple(lines),
        )

    def _look_on_record(self, number: int) -> Look | None:
        """The crawl's own finding about the explained page and this original."""
        recorded = self._recorded
        if recorded is None or recorded.original != number:
            return None
        return Look(only_page=0, only_original=0, shared=0, lines=recorded.lines, is_on_record=True)

    def _as_judged(self, document: Document) -> Document:
        """The document with all its rare shingles."""
        if not isinstance(document, Page):
            return document
        return with_whole_rest(document, self._site(host_of(document.url)))

    def _rare_on(self, host: str) -> IsRare | None:
        site = self._site(host)
        return site.is_rare if site else None

    def _explain(self, signer: Signer, detector: Detector, document: Document) -> StageReport:
        stage = signer.stage
        if signer.sign(document) is None:
            return StageReport(stage=stage, is_asked=True, words=signer.why_unsigned(document))
        self._asked.clear()
        match = detector.find(document)
        numbers = list(dict.fromkeys(self._asked))
        candidates = [self._candidate(signer, document, number) for number in numbers]
        candidates.sort(key=lambda each: (-each.verdict.resemblance, each.number))
        count = len(candidates)
        words = f"{count:,} stored page{'' if count == 1 else 's'} {CASCADE[stage].shares}"
        return StageReport(
            stage=stage,
            is_asked=True,
            words=f"{words} and the same fields" if document.key else words,
            signature=signer.show(document),
            count=count,
            candidates=tuple(candidates[:_MAX_CANDIDATES]),
            match=match,
        )

    def _candidate(self, signer: Signer, document: Document, number: int) -> Candidate:
        original = self._store.page(number)
        return Candidate(
            number=number,
            url=original.url,
            comparison=compare(signer, document, original, self.config),
            verdict=decide(
                document,
                original,
                self.config,
                look=lambda: self._look(document, original) or self._look_on_record(number),
            ),
        )

    def _new_check(self) -> "_Noting":
        check = _Noting.of(self._fetch, self.config, rare_on=self._rare_on)
        check.asked = self._asked
        check.recorded = None if self._recorded is None else self._recorded.original
        return check

    def _fetch(self, number: int) -> Document:
        self._asked.append(number)
        return self._store.document(number)

    def _body(self, number: int) -> bytes | None:
        self._asked.append(number)
        return self._store.body(number)

    def _load(self, detector: Detector, before: int) -> None:
        first = self._store.decisions.group_start(before)
        for numbers, signatures in self._store.signatures(detector.stage):
            start, stop = np.searchsorted(numbers, [first, before]).tolist()
            if stop > start:
                detector.load(numbers[start:stop], signatures[start:stop])


class _Noting(SecondCheck):
    """The second check, recording which candidates it compares.

    Attributes:
        asked: the numbers of the candidates.
        recorded: the page from which the crawl distinguished the document.
    """

    asked: list[int]
    recorded: int | None

    def is_told_apart(self, document: Document, number: int, original: Document) -> bool:
        return super().is_told_apart(document, number, original) or number == self.recorded

    def nearest(
        self, document: Document, numbers: Iterable[int]
    ) -> tuple[int, float | None] | None:
        proposed = list(numbers)
        self.asked.extend(proposed)
        return super().nearest(document, proposed)


def config_of(schemes: dict[str, Any], settings: dict[str, Any]) -> DedupConfig:
    """The configuration: from the schemes of the signatures, and thresholds from settings."""
    default = DedupConfig()
    names = {each.name for each in fields(DedupConfig)}
    made = {
        name: value
        for stage, scheme in schemes.items()
        for key, value in scheme.items()
        for name in (key, f"{stage}_{key}")
        if name in names
    }
    return DedupConfig(
        near_resemblance=float(settings.get("DEDUP_NEAR_RESEMBLANCE", default.near_resemblance)),
        simhash_distance=int(settings.get("DEDUP_SIMHASH_DISTANCE", default.simhash_distance)),
        near_names=settings.get("DEDUP_NEAR_NAMES", default.near_names),
        **made,
    )
