"""Which fetched pages the rules call the same as one that was just fetched."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dedup.urls.canonical import url_key
from dedup.urls.learning.records import NEAR, UrlKnowledge
from dedup.urls.learning.rewrites import (
    Rewrite,
    form_key,
    inverse,
    is_kept_by_form,
    is_mirror,
    rewriter,
    rewrites,
)
from dedup.urls.parts import UrlParts


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that was judged.

    Attributes:
        url: in canonical spelling.
        content: the number of the stored page that it is, or is equal to; `NEAR`: it was dropped
            for a page that is not equal to it, or has nothing to tell it by.
        is_own: it was stored: nothing stored before is like it.
        is_short: its text is too short to tell two pages apart.
        original_url: of the page that it is equal to, where it is another one.
        canonical: the URL that the page names as its own, in canonical spelling; None: none.
    """

    url: str
    content: int
    is_own: bool
    is_short: bool = False
    original_url: str | None = None
    canonical: str | None = None


class Partner(NamedTuple):
    """A page that a rule calls the same as one that was just fetched.

    Attributes:
        content: its number.
        form: what the rule makes of the address; of a mirror's original, the mirror's address.
        value: what the rule dropped of the address.
    """

    rule: str
    content: int
    form: UrlParts
    value: str


def candidates(parts: UrlParts, names: Collection[str]) -> list[Rewrite]:
    """What all rules make of an address: those of every kind, and the mirrors among `names`."""
    return [*rewrites(parts), *_mirror_rewrites(parts, names)]


def partners(
    knowledge: UrlKnowledge, found: Sequence[Rewrite], parts: UrlParts, names: Collection[str]
) -> list[Partner]:
    """The pages that a rule calls the same as this address, one for each rule.

    Args:
        knowledge: is asked once.
        found: what the rules make of the address.
        parts: the address.
        names: the rules of its host, for those that do not rewrite it but others to it.
    """
    wanted = [*_addresses_of(found), *_addresses_to(parts, names, {each.rule for each in found})]
    pages = knowledge.forms([key for key, _ in wanted])
    partners: dict[str, Partner] = {}
    for key, each in wanted:
        content = pages.get(key)
        if content is not None and content != NEAR:
            partners.setdefault(each.rule, Partner(each.rule, content, each.form, each.value))
    return list(partners.values())


def shown_forms(url: str, found: Sequence[Rewrite], content: int) -> list[tuple[bytes, int | None]]:
    """The forms of an address with the page that it shows, for the store."""
    forms: list[tuple[bytes, int | None]] = [(url_key(url), content)]
    forms += [
        (form_key(each.rule, each.form), content) for each in found if is_kept_by_form(each.rule)
    ]
    return forms


def _mirror_rewrites(parts: UrlParts, names: Collection[str]) -> Iterator[Rewrite]:
    for name in names:
        if is_mirror(name):
            form = rewriter(name)(parts)
            if form != parts:
                yield Rewrite(name, form)


def _addresses_of(found: Sequence[Rewrite]) -> Iterator[tuple[bytes, Rewrite]]:
    for each in found:
        yield url_key(str(each.form)), each
        if is_kept_by_form(each.rule):
            yield form_key(each.rule, each.form), each


def _addresses_to(
    parts: UrlParts, names: Collection[str], matched: set[str]
) -> Iterator[tuple[bytes, Rewrite]]:
    for name in names:
        if name in matched or "@" in name:
            continue
        if is_kept_by_form(name):
            yield form_key(name, parts), Rewrite(name, parts)
        elif (other := inverse(name, parts)) is not None:
            yield url_key(str(other)), Rewrite(name, other)
