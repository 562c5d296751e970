"""Hosts on which others may post: their pages come between those that are to be kept.

An honest page has words of its own in `div.content` and the same legal notice as all in
`div.legal`. What the attacker wants is that honest pages are dropped, or stored without their text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.accuracy.small_sites import words

N_HONEST = 30
N_ATTACKERS = 12
_OWN_WORDS = 260
_PARAGRAPHS = 5
_WORD = re.compile(r"\w+")

Pages = list[tuple[str, str]]


@dataclass
class Attack:
    """Pages in the order of their arrival, and what the honest ones among them say."""

    pages: Pages = field(default_factory=list)
    articles: dict[str, str] = field(default_factory=dict)

    def add(self, *pages: tuple[str, str]) -> Attack:
        self.pages += pages
        return self

    def add_honest(self, honest: Iterable[Honest]) -> Attack:
        for each in honest:
            self.pages.append((each.path, each.html))
            self.articles[each.path] = each.article
        return self


@dataclass(frozen=True)
class Honest:
    """A page that is to be kept, and its article."""

    path: str
    html: str
    article: str


def words_found(article: str, text: str) -> float:
    """The share of the article's words that a text has."""
    wanted, found = (Counter(_WORD.findall(each.lower())) for each in (article, text))
    return (wanted & found).total() / wanted.total()


# --- Honest pages --------------------------------------------------------------------------------


def honest(
    *, heading: bool = True, title: bool = True, n_words: int = _OWN_WORDS, n: int = N_HONEST
) -> list[Honest]:
    found = []
    for number in range(n):
        name = words(f"name {number}", 3)[:-1]
        paragraphs = [
            words(f"honest {number} {part}", n_words // _PARAGRAPHS) for part in range(_PARAGRAPHS)
        ]
        content = (f"<h1>{name}</h1>" if heading else "") + _paragraphs(paragraphs)
        body = f"<div class=content>{content}</div><div class=legal>{_LEGAL}</div>"
        html = page(name if title else "The host", body)
        found.append(Honest(f"honest-{number}.html", html, " ".join(paragraphs)))
    return found


def page(title: str, body: str) -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head>"
        f"<body>{body}</body></html>"
    )


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def _links(name: object, n: int = 30) -> str:
    return "".join(f"<li><a href=/{n}>{words(f'{name} link {n}', 6)}</a></li>" for n in range(n))


_LEGAL_LINES = [words(f"legal {part}", 30) for part in range(3)]
_LEGAL = _paragraphs(_LEGAL_LINES)


# --- Attacks -------------------------------------------------------------------------------------


def _inside_out(number: int) -> tuple[str, str]:
    """A list of links where the article stands, and an article where the notice stands."""
    body = (
        f"<div class=content><div class=content><ul>{_links(number)}</ul></div>"
        f"<div class=legal>{_paragraphs(_spam(number))}</div></div>"
    )
    return f"spam-{number}.html", page(words(f"spam title {number}", 3), body)


def _spam(number: object) -> list[str]:
    return [words(f"spam {number} {part}", 52) for part in range(_PARAGRAPHS)]


def _swapped(number: int) -> tuple[str, str]:
    """The same under the very names, at the same places, as honest pages have them."""
    body = (
        f"<div class=content><ul>{_links(number)}</ul></div>"
        f"<div class=legal>{_paragraphs(_spam(number))}</div>"
    )
    return f"spam-{number}.html", page(words(f"spam title {number}", 3), body)


def _spammers(
    kind: Callable[[int], tuple[str, str]], n: int = N_ATTACKERS
) -> list[tuple[str, str]]:
    return [kind(number) for number in range(n)]


def poisoned_template() -> Attack:
    return Attack().add(*_spammers(_inside_out)).add_honest(honest())


def poisoned_template_without_headings() -> Attack:
    return Attack().add(*_spammers(_inside_out)).add_honest(honest(heading=False))


def poisoned_template_without_names() -> Attack:
    pages = honest(heading=False, title=False)
    return Attack().add(*_spammers(_inside_out)).add_honest(pages)


def poisoned_template_of_short_pages() -> Attack:
    pages = honest(heading=False, title=False, n_words=25)
    return Attack().add(*_spammers(_inside_out)).add_honest(pages)


def poisoned_after_twelve() -> Attack:
    pages = honest(heading=False)
    attack = Attack().add_honest(pages[:12])
    return attack.add(*_spammers(_inside_out)).add_honest(pages[12:])


def four_times_as_many() -> Attack:
    attack = Attack()
    for number, each in enumerate(honest(heading=False)):
        attack.add(*(_inside_out(4 * number + n) for n in range(4))).add_honest([each])
    return attack


def swapped_boxes() -> Attack:
    return Attack().add(*_spammers(_swapped)).add_honest(honest(heading=False))


def swapped_boxes_four_times_as_many() -> Attack:
    attack = Attack()
    for number, each in enumerate(honest(heading=False, title=False)):
        attack.add(*(_swapped(4 * number + n) for n in range(4))).add_honest([each])
    return attack


def swapped_boxes_around_short_pages() -> Attack:
    pages = honest(heading=False, title=False, n_words=25)
    return Attack().add(*_spammers(_swapped, 60)).add_honest(pages)


def attackers_after() -> Attack:
    return Attack().add_honest(honest(heading=False)).add(*_spammers(_swapped, 120))


def _names_taken(kind: Callable[[int], tuple[str, str]]) -> Attack:
    """The attacker's pages have the titles and headings of the honest ones."""
    pages = honest()
    attack = Attack()
    for number in range(len(pages)):
        name = words(f"name {number}", 3)[:-1]
        path, html = kind(number)
        html = re.sub("<title>.*</title>", f"<title>{name}</title>", html)
        attack.add((path, html.replace("<body>", f"<body><h1>{name}</h1>")))
    return attack.add_honest(pages)


def names_taken() -> Attack:
    return _names_taken(_inside_out)


def names_taken_and_boxes_swapped() -> Attack:
    return _names_taken(_swapped)


def titles_of_victims_lines() -> Attack:
    """Titles and headings are lines of honest pages, each on many pages."""
    pages = honest(heading=False)
    attack = Attack()
    for number in range(60):
        line = words(f"honest {number % 3} {number % _PARAGRAPHS}", _OWN_WORDS // _PARAGRAPHS)
        body = f"<h1>{line}</h1><div class=content>{_paragraphs(_spam(number))}</div>"
        attack.add((f"spam-{number}.html", page(line, body)))
    return attack.add_honest(pages)


def _repeated(n_names: int, n_victims: int = N_HONEST, *, heading: bool = False) -> Attack:
    """All lines of honest pages are repeated on pages of other names, to be taken for furniture."""
    pages = honest(heading=heading)
    lines = _paragraphs(
        words(f"honest {number} {part}", _OWN_WORDS // _PARAGRAPHS)
        for number in range(n_victims)
        for part in range(_PARAGRAPHS)
    )
    attack = Attack()
    for number in range(n_names):
        body = f"<div class=content>{_paragraphs(_spam(number))}</div><div class=x>{lines}</div>"
        attack.add((f"spam-{number}.html", page(words(f"spam title {number}", 3), body)))
    return attack.add_honest(pages)


def lines_repeated_on_12() -> Attack:
    return _repeated(12)


def lines_repeated_on_60() -> Attack:
    return _repeated(60)


def lines_repeated_on_60_with_headings() -> Attack:
    return _repeated(60, heading=True)


def one_victims_lines_repeated() -> Attack:
    return _repeated(60, 1)


def one_victims_lines_repeated_with_bait() -> Attack:
    """And a page of which nothing is left but the notice, as of the victim's."""
    attack = _repeated(60, 1)
    attack.pages.insert(60, ("bait.html", page("Bait", f"<div class=legal>{_LEGAL}</div>")))
    return attack


def one_victims_lines_repeated_inside_out_with_bait() -> Attack:
    """The victim's lines stand where articles do, and the attacker's words where the notice does.

    And a page has nothing but the notice, as is then left of the victim's.
    """
    pages = honest(heading=False)
    lines = _paragraphs(
        words(f"honest 0 {part}", _OWN_WORDS // _PARAGRAPHS) for part in range(_PARAGRAPHS)
    )
    attack = Attack()
    for number in range(60):
        spam = _paragraphs(_spam(number))
        body = f"<div class=content>{lines}</div><div class=legal>{spam}</div>"
        attack.add((f"spam-{number}.html", page(words(f"spam title {number}", 3), body)))
    attack.add(("bait.html", page("Bait", f"<div class=legal>{_LEGAL}</div>")))
    return attack.add_honest(pages)


def flood_of_lines() -> Attack:
    """More lines than are counted, so that what repeats is forgotten."""
    attack, pages = Attack(), honest(heading=False)
    attack.add_honest(pages[:15])
    for number in range(N_ATTACKERS):
        lines = _paragraphs(f"{words(f'flood {number} {n}', 3)}" for n in range(2_000))
        attack.add((f"spam-{number}.html", page(f"Flood {number}", f"<div>{lines}</div>")))
    return attack.add_honest(pages[15:])


def hidden_copies() -> Attack:
    """Before each honest page one of its name that has its lines in a hidden corner."""
    attack = Attack()
    for number, each in enumerate(honest()):
        name = words(f"name {number}", 3)[:-1]
        body = (
            f"<div class=content><h1>{name}</h1>{_paragraphs(_spam(number))}</div>"
            f"<div class=legal>{_LEGAL}</div><div class=x style='display:none'>{each.article}</div>"
        )
        attack.add((f"spam-{number}.html", page(name, body)))
        attack.add_honest([each])
    return attack


def forged_originals() -> Attack:
    """Before each honest page one of its name and text, but for one word in forty."""
    attack = Attack()
    for number, each in enumerate(honest()):
        changed = re.sub(r"((?:\w+\W+){39})[a-z]+", r"\1spam", each.html.partition("<body>")[2])
        name = words(f"name {number}", 3)[:-1]
        attack.add((f"spam-{number}.html", page(name, changed.partition("</body>")[0])))
        attack.add_honest([each])
    return attack


def members_in_a_hidden_corner() -> Attack:
    """Pages that only their breadcrumbs tell apart, after one that has all breadcrumbs."""
    attack, crumbs = Attack(), [words(f"crumb {n}", 2)[:-1] for n in range(N_HONEST)]
    for name in crumbs:
        content = f"<h1>{name}</h1><p>{words(f'class {name}', 40)}</p>"
        attack.add((f"{name}/index.html", _member(name, name, content)))
    every = "</p><p>".join(crumbs)
    attack.add(("value.html", _member(every, "value", "<h1>value</h1><p>val value: String</p>")))
    return attack.add_honest(
        Honest(
            f"{name}/value.html",
            _member(name, "value", "<h1>value</h1><p>val value: String</p>"),
            "val value: String",
        )
        for name in crumbs
    )


def _member(crumb: str, title: str, content: str) -> str:
    return page(
        title,
        f"<div class=crumbs><a href=/>All</a><p>{crumb}</p></div><div class=content>{content}</div>"
        f"<div class=legal>{_LEGAL}</div>",
    )


ATTACKS: tuple[Callable[[], Attack], ...] = (
    poisoned_template,
    poisoned_template_without_headings,
    poisoned_template_without_names,
    poisoned_template_of_short_pages,
    poisoned_after_twelve,
    four_times_as_many,
    swapped_boxes,
    swapped_boxes_four_times_as_many,
    swapped_boxes_around_short_pages,
    attackers_after,
    names_taken,
    names_taken_and_boxes_swapped,
    titles_of_victims_lines,
    lines_repeated_on_12,
    lines_repeated_on_60,
    lines_repeated_on_60_with_headings,
    one_victims_lines_repeated,
    one_victims_lines_repeated_with_bait,
    flood_of_lines,
    hidden_copies,
    members_in_a_hidden_corner,
)
