"""Is the result safe? The warning signs of a job in words, and what could not be checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedup.report.drops import SHORT_WORDS, KeptApart, ShortDrops
from dedup.report.names import OtherNames
from dedup.report.text_audit import MIN_WORDS, HostAudit

MAX_SHORT = 0.05
"""The share of a job's pages that may be dropped with a short text."""

MAX_APART = 0.05
"""The share of stored pages that the second look may have kept."""

_MIN_SHORT = 20
_MIN_APART = 10
_MIN_PAGES = 10
_FALLBACK = ("landmark", "page")
_MOST_FALLBACK = 0.5
_MAX_CHARACTERS = 120
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Sign:
    """A warning sign.

    Attributes:
        what: the finding, as a sentence.
        words: what it may mean.
        examples: pairs of a URL and an explanation.
        is_of_names: does the filter of names show the duplicates in the list?
    """

    what: str
    words: str
    examples: tuple[tuple[str, str], ...] = ()
    is_of_names: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """The warning signs of a job, and what was checked.

    Attributes:
        signs: the warning signs.
        unchecked: why the texts could not be checked; "": they were.
        checked: the positive result for the texts; "": there is none.
        are_texts_doubtful: are there signs about texts? Then equal texts prove little.
        has_second_look: was there a second look? Not in earlier releases, nor for given texts.
    """

    signs: tuple[Sign, ...]
    unchecked: str
    checked: str
    are_texts_doubtful: bool
    has_second_look: bool

    @property
    def verdict(self) -> str:
        if self.signs:
            count = "a warning sign" if len(self.signs) == 1 else f"{len(self.signs)} warning signs"
            return f"Not yet: there {'is' if len(self.signs) == 1 else 'are'} {count}."
        if self.unchecked:
            return f"No warning signs in what could be checked; {self.unchecked}."
        if self.has_second_look:
            return "No warning signs in texts, names, short drops and what the second look kept."
        return "No warning signs in texts, names and short drops."


def find_signs(
    summary: Mapping[str, Any],
    *,
    names: OtherNames,
    audits: Sequence[HostAudit],
    sources: Mapping[str, Mapping[str, int]],
    short: ShortDrops,
    apart: KeptApart,
    has_bodies: bool,
    has_second_look: bool,
) -> Findings:
    """Collect the warning signs about a job's drops and texts."""
    pages = summary["pages"]
    of_texts = [*_of_texts(audits), *_of_sources(sources)]
    of_short = list(_of_short(short, pages["fetched"]))
    signs = (
        *_of_shells(summary),
        *of_texts,
        *_of_names(names),
        *of_short,
        *_of_apart(apart, pages["unique"]),
    )
    return Findings(
        signs,
        unchecked=_unchecked(audits, has_bodies=has_bodies) if pages["unique"] else "",
        checked="" if of_texts else _checked(audits),
        are_texts_doubtful=bool(of_texts or of_short),
        has_second_look=has_second_look,
    )


def _of_texts(audits: Sequence[HostAudit]) -> Iterator[Sign]:
    for each in audits:
        if not each.is_suspicious:
            continue
        what = (
            f"Texts of {each.host} are suspiciously small for their pages: of {each.measured:,}"
            f" pages checked, {each.small:,} have less than half of their page’s rare words; the"
            f" median text has {each.median:.0%} of them."
        )
        words = "Rare words are words outside links that hardly any other page of the host has."
        if each.worst is not None:
            words += (
                f" The worst are pages like {each.worst.pattern}: of {each.worst.pages:,}, the"
                f" median text has {each.worst.median:.0%}."
            )
        words += " The missing words may be what distinguishes pages."
        examples = tuple(
            (
                page.url,
                f"{page.share:.0%} of {page.rare_words:,} rare words, in a text of"
                f" {page.characters:,} characters",
            )
            for page in each.examples
        )
        yield Sign(what, words, examples)


def _of_sources(sources: Mapping[str, Mapping[str, int]]) -> Iterator[Sign]:
    for host, counts in sources.items():
        pages, fallback = sum(counts.values()), sum(counts.get(name, 0) for name in _FALLBACK)
        if pages >= _MIN_PAGES and fallback >= _MOST_FALLBACK * pages:
            yield Sign(
                f"Nothing was known of {host or 'pages without a host'} when"
                f" {fallback:,} of its {pages:,} pages were read.",
                "Their texts were extracted by general rules: they may lack content and include"
                " what the site repeats.",
            )


def _of_shells(summary: Mapping[str, Any]) -> Iterator[Sign]:
    if count := summary.get("needs_rendering"):
        pages = "1 page has" if count == 1 else f"{count:,} pages have"
        yield Sign(
            f"{pages} no text before scripts run.",
            "Each is stored, and compared with no other page; to read them takes a browser."
            " dedup export JOB --fields url,needs_rendering tells which; a crawl with"
            " -s DEDUP_RENDER=auto renders such pages.",
        )


def _of_names(names: OtherNames) -> Iterator[Sign]:
    if names.other:
        words = "They may be different pages."
        if names.on_one_host:
            words += " DEDUP_NEAR_NAMES=agree keeps those of one host."
        yield Sign(
            f"{names.other:,} of {names.near:,} near duplicates have a different title or heading"
            f" from their original ({names.on_one_host:,} of them on one host).",
            words,
            is_of_names=True,
        )


def _of_short(short: ShortDrops, n_fetched: int) -> Iterator[Sign]:
    if short.estimate >= max(_MIN_SHORT, MAX_SHORT * n_fetched):
        about = "" if short.estimate == short.short else "About "
        yield Sign(
            f"{about}{short.estimate:,} pages, {short.estimate / n_fetched:.0%} of all, were"
            f" dropped with texts of fewer than {SHORT_WORDS} words.",
            "Such texts may miss what the pages say elsewhere, for example in a breadcrumb."
            " Compare some with their originals.",
            tuple(
                (url, f"duplicate of {original}: “{_cut(text)}”")
                for url, original, text in short.examples
            ),
        )


def _of_apart(apart: KeptApart, n_unique: int) -> Iterator[Sign]:
    if apart.pages >= max(_MIN_APART, MAX_APART * n_unique):
        # Some have no lines, because their bodies are too large to be read again.
        examples = sorted(apart.listed, key=lambda page: not page.lines)[:_EXAMPLES]
        yield Sign(
            f"The second look kept {apart.pages:,} pages, {apart.pages / n_unique:.0%} of those"
            " stored, whose texts resemble another page’s.",
            "So many suggest that the texts lack what distinguishes these pages, or that a line"
            " changes with each visit, so that copies are kept.",
            tuple((page.url or f"#{page.number}", _lines(page.lines)) for page in examples),
        )


def _lines(lines: Sequence[str]) -> str:
    if not lines:
        return "its lines are not shown: the page is large"
    return "kept for " + ", ".join(f"“{_cut(line)}”" for line in lines)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + "…"


def _unchecked(audits: Sequence[HostAudit], *, has_bodies: bool) -> str:
    if not has_bodies:
        return "the texts could not be checked: no page’s body is stored"
    if not audits:
        return (
            "the texts could not be checked: no host has ten pages with different names, so what"
            " its pages repeat is unknown"
        )
    if not any(each.measured for each in audits):
        return f"the texts could not be checked: no page has {MIN_WORDS} words that others lack"
    return ""


def _checked(audits: Sequence[HostAudit]) -> str:
    measured = [each for each in audits if each.median is not None]
    if not measured:
        return ""
    n_pages = sum(each.measured for each in measured)
    n_others = sum(each.sampled for each in audits) - n_pages
    others = f"; {n_others:,} more are too short to tell" if n_others else ""
    least = min(measured, key=lambda each: (each.median or 0.0, each.host))
    hosts = "1 host" if len(measured) == 1 else f"{len(measured):,} hosts"
    return (
        f"{n_pages:,} pages of {hosts} were checked{others}. The median text has"
        f" {least.median:.0%} of its page’s rare words outside links"
        + (f" on {least.host}, the lowest." if len(measured) > 1 else ".")
    )
