"""The comparison of two documents by each stage of the cascade, in values and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dedup.config import DedupConfig
from dedup.detectors import Signer
from dedup.detectors.second_check import (
    Objection,
    comparable_text,
    is_same_text,
    objection_to_equal,
    objection_to_near,
)
from dedup.document import Document
from dedup.keys import differing
from dedup.names import do_agree
from dedup.similarity import containment, resemblance


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The comparison of two documents by one stage.

    Attributes:
        is_candidate: would the stage propose one for the other? None: it does not apply to one of
            them.
        words: the reason.
        first, second: the signatures, if they can be shown.
    """

    stage: str
    is_candidate: bool | None
    words: str
    first: Any = None
    second: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the second look distinguished a page from another one with similar text.

    Attributes:
        only_page, only_original, shared: the number of rare three-word sequences on only one of the
            pages, and on both. For long pages, only some are stored.
        lines: up to three lines of the page that the other one lacks.
        is_on_record: this is the finding of the crawl, from lines that are no longer rare.
    """

    only_page: int
    only_original: int
    shared: int
    lines: tuple[str, ...] = ()
    is_on_record: bool = False

    @property
    def words(self) -> str:
        if self.is_on_record:
            return "but the crawl found them to be different pages by what was rare on them then"
        return (
            "but they are different pages by what surrounds the texts: of rare word sequences,"
            f" {self.only_page:,} are only on the later page, {self.only_original:,} only on the"
            f" earlier one, {self.shared:,} on both"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The second check: are two documents near duplicates, regardless of the stage?

    Attributes:
        resemblance: common shingles over all shingles, 0 to 1.
        only_first, only_second: the number of shingles that only one document has.
        first_in_second: the share of the first document's shingles that the second has.
        second_in_first: the reverse.
        is_short: one document has too few shingles, so text and title must be equal.
        objection: why documents with similar texts are two pages nevertheless.
        has_other_key: the key fields of the two differ, so they are two pages.
        look: how the second look distinguished them; None: it did not, or was not taken.
    """

    is_duplicate: bool
    words: str
    resemblance: float
    common: int
    only_first: int
    only_second: int
    first_in_second: float
    second_in_first: float
    is_short: bool
    objection: Objection | None = None
    has_other_key: bool = False
    look: Look | None = None


def decide(
    first: Document,
    second: Document,
    config: DedupConfig,
    *,
    look: Callable[[], Look | None] = lambda: None,
) -> Decision:
    """Compare as `SecondCheck` does, and count common shingles.

    `look` takes the second look; it is called where nothing else makes them two pages.
    """
    sizes = len(first.shingles), len(second.shingles)
    likeness = resemblance(first.shingles, second.shingles)
    common = round(containment(first.shingles, second.shingles) * sizes[0])
    is_short = min(sizes) < config.short_shingles
    is_equal = is_same_text(first, second, with_title=is_short)
    if is_short:
        is_alike = is_equal
        words = _short_words(first, second, min(sizes), config)
    else:
        is_alike = is_equal or likeness >= config.near_resemblance
        relation = "at least" if likeness >= config.near_resemblance else "less than"
        words = (
            f"{common:,} of {sum(sizes) - common:,} shingles in common: resemblance"
            f" {rounded(likeness, config.near_resemblance)}, {relation} {config.near_resemblance:g}"
        )
    objection = None
    if is_alike:
        object_to = objection_to_equal if is_equal else objection_to_near
        objection = object_to(first, second, names=config.near_names)
        if objection is not None:
            words += _objection_words(objection, first, second)
    has_other_key = first.key != second.key
    if has_other_key:
        names = ", ".join(f"`{name}`" for name in differing(first.key, second.key))
        words += f"; but they differ in {names}, which must also be equal"
    is_duplicate = is_alike and objection is None and not has_other_key
    found = look() if is_duplicate else None
    if found is not None:
        is_duplicate, words = False, f"{words}; {found.words}"
    return Decision(
        is_duplicate=is_duplicate,
        words=words,
        resemblance=likeness,
        common=common,
        only_first=sizes[0] - common,
        only_second=sizes[1] - common,
        first_in_second=containment(first.shingles, second.shingles),
        second_in_first=containment(second.shingles, first.shingles),
        is_short=is_short,
        objection=objection,
        has_other_key=has_other_key,
        look=found,
    )


_OBJECTIONS: Mapping[Objection, str] = {
    "furniture": "the common part may be what the site has on every page: nothing was known of the"
    " site",
    "script": "one is in traditional, the other in simplified Chinese",
    "names": "these are different pages by their names",
}


def _objection_words(objection: Objection, first: Document, second: Document) -> str:
    names = ("headings", first.heading, second.heading), ("titles", first.title, second.title)
    for kind, one, other in names if objection == "names" else ():
        if not do_agree(one, other):
            return f"; but these are different pages by their {kind}: {one!r} and {other!r}"
    return f"; but {_OBJECTIONS[objection]}"


def rounded(likeness: float, threshold: float) -> str:
    """The resemblance with three digits, or more if it would look equal to the threshold.

    >>> rounded(0.79996, 0.8), rounded(0.5, 0.8)
    ('0.79996', '0.500')
    """
    digits = next((n for n in range(3, 9) if round(likeness, n) != round(threshold, n)), 3)
    return f"{likeness:.{digits}f}"


def _short_words(first: Document, second: Document, size: int, config: DedupConfig) -> str:
    rule = f"one has {size} shingles, fewer than {config.short_shingles}: text and title must be"
    if not first.text.strip() or not second.text.strip():
        return f"{rule} equal, and one has no text"
    if is_same_text(first, second, with_title=True):
        return f"{rule} equal, and are"
    if comparable_text(first, with_title=False) == comparable_text(second, with_title=False):
        return f"{rule} equal; the titles differ: {first.title!r} and {second.title!r}"
    return f"{rule} equal; the texts differ"


def compare(signer: Signer, first: Document, second: Document, config: DedupConfig) -> Comparison:
    """Tell whether a stage of the cascade would propose one document for the other."""
    signatures = []
    for document in (first, second):
        signature = signer.sign(document)
        if signature is None:
            words = signer.why_unsigned(document)
            return Comparison(stage=signer.stage, is_candidate=None, words=words)
        signatures.append(signature)
    is_candidate, words = signer.compare(signatures[0], signatures[1], config)
    if first.key != second.key:
        bare = [signer.sign(each.with_key("")) or b"" for each in (first, second)]
        words = f"{signer.compare(bare[0], bare[1], config)[1]}, but their fields differ"
    return Comparison(
        stage=signer.stage,
        is_candidate=is_candidate,
        words=words,
        first=signer.show(first),
        second=signer.show(second),
    )
