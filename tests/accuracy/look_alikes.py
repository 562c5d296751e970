"""Small sites whose pages resemble each other: some are two pages, others are one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tests.accuracy.small_sites import FOOT, N_PAGES, SmallSite, document, words

_MENU = "".join(f"<li><a href=#{n}>{words(f'menu {n}', 3)}</a></li>" for n in range(20))


def _themed(title: str, content: str, *, side: bool = True, foot: str = "") -> str:
    bar = f"<div class=side><ul>{_MENU}</ul></div>" if side else ""
    return document(
        title,
        f"<div class=top><a href=./>Home</a><a href=./all>All</a></div><div class=page>{content}"
        f"</div>{bar}<div class=foot>{foot or f'<p>{FOOT}</p>'}</div>",
    )


def _paragraphs(name: object, n: int, n_words: int) -> list[str]:
    return [words(f"{name} {part}", n_words) for part in range(n)]


def _html(paragraphs: Iterable[str]) -> str:
    return "".join(f"<p>{each}</p>" for each in paragraphs)


# --- Two pages each ------------------------------------------------------------------------------


def answers_below_a_question() -> SmallSite:
    """A short question is asked four times, and answered otherwise each time."""
    site = SmallSite(foreign=[FOOT])
    for number in range(2 * N_PAGES):
        question = words(f"question {number // 4}", 5)[:-1]
        choose = random.Random(number)
        answers = [
            words(f"answer {number} {n}", choose.randint(15, 60))
            for n in range(choose.randint(2, 6))
        ]
        names = [words(f"by {number + n}", 1) for n in range(len(answers))]
        boxes = "".join(
            f"<div class=answer><p>{answer}</p><a href=/by/{n}>{name}</a></div>"
            for n, (answer, name) in enumerate(zip(answers, names, strict=True))
        )
        content = f"<div class=question><h1>{question}</h1></div><div class=answers>{boxes}</div>"
        site.add(f"question/{number}", _themed(question, content), *answers)
        site.says(f"question/{number}", question, *answers, *names)
    return site


def products_with_one_description() -> SmallSite:
    """Grids of products, and pages of products that differ in name, price and options."""
    site = SmallSite(foreign=[FOOT])
    cards = []
    for number in range(N_PAGES):
        about = _paragraphs(f"made by hand {number // 4}", 3, 30)
        name, options = words(f"product {number}", 3)[:-1], words(f"options {number}", 4)[:-1]
        price = f"{number + 3}.50 EUR"
        listed = "".join(f"<option>{option}</option>" for option in options.split())
        content = (
            f"<div class=summary><h1>{name}</h1><p class=price>{price}</p><select>{listed}</select>"
            f"<p>SKU {options[:6]}-{number}</p></div><div class=description>{_html(about)}</div>"
        )
        site.add(f"product/{number}/", _themed(name, content), name, price)
        site.says(f"product/{number}/", name, price, options, f"SKU {options[:6]}-{number}", *about)
        card = f"<a href=/product/{number}/>{name}</a><p>{price}</p>"
        cards.append(f"<li class=card>{card}</li>")
    for number in range(4):
        grid = "".join(cards[number::4])
        title = f"Shop {words(f'shelf {number}', 2)}"
        shelf = range(number, N_PAGES, 4)
        names = [words(f"product {n}", 3)[:-1] for n in shelf]
        content = f"<h1>{title}</h1><ul class=grid>{grid}</ul>"
        site.add(f"shelf/{number}/", _themed(title, content), *names, copy=False)
        site.says(f"shelf/{number}/", title, *names, *(f"{n + 3}.50 EUR" for n in shelf))
    return site


def shirts_of_one_name() -> SmallSite:
    """Products of one name by two makers: their tables tell them apart."""
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        name, about = words(f"shirt {number}", 2)[:-1], _paragraphs(f"about {number}", 2, 25)
        for maker in ("", "-2"):
            facts = [words(f"{name} {maker} {fact}", 3)[:-1] for fact in ("by", "of", "in")]
            table = "".join(f"<tr><th>Fact</th><td>{fact}</td></tr>" for fact in facts)
            content = f"<h1>{name}</h1>{_html(about)}<table>{table}</table>"
            path = f"shirt-{number}{maker}/"
            site.add(path, _themed(name, content), *about, *facts, copy=False)
            site.says(path, name, *about, *(f"Fact {fact}" for fact in facts))
    return site


def members_of_different_classes() -> SmallSite:
    """Only the breadcrumb tells members of one name apart."""
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        name = words(f"class {number}", 1)[:-1].capitalize()
        about = _paragraphs(f"class {number}", 3, 20)
        crumbs = f"<div class=crumbs><a href=/>lib</a>/<a href=/{name}/>{name}</a></div>"
        site.add(f"{name}/", _themed(name, f"{crumbs}<div><h1>{name}</h1>{_html(about)}</div>"))
        site.says(f"{name}/", f"lib/{name}", name, *about)
        content = (
            f"{crumbs}<div class=cover><h1>value</h1></div>"
            f"<div class=content><pre>val value: String</pre><p>The value.</p></div>"
        )
        site.add(f"{name}/value/", _themed("value", content), "val value: String", copy=False)
    return site


def a_footer_longer_than_the_text() -> SmallSite:
    foot = _paragraphs("long foot", 6, 40)
    site = SmallSite(foreign=foot)
    for number in range(N_PAGES):
        title, own = words(f"brief {number}", 3)[:-1], words(f"briefly {number}", 25)
        content = f"<h1>{title}</h1><p>{own}</p><p>{words(f'last {number}', 6)}</p>"
        site.add(f"brief/{number}", _themed(title, content, foot=_html(foot)), own)
        site.says(f"brief/{number}", title, own, words(f"last {number}", 6))
    return site


def prose_in_a_box_of_links() -> SmallSite:
    """The box has lists of links on the first pages, and what later pages say themselves."""
    site = SmallSite(foreign=[FOOT])
    for number in range(2 * N_PAGES):
        title = words(f"box {number}", 3)[:-1]
        intro, prose = words(f"intro {number}", 60), _paragraphs(f"prose {number}", 5, 40)
        links = "".join(
            f"<li><a href=#{n}>{words(f'link {number % 3} {n}', 5)}</a></li>" for n in range(30)
        )
        is_early = number < N_PAGES
        content = (
            f"<h1>{title}</h1><p>{intro}</p>"
            f"<div class=more>{f'<ul>{links}</ul>' if is_early else _html(prose)}</div>"
        )
        site.add(f"box/{number}", _themed(title, content), *([intro] if is_early else prose))
        if not is_early:
            site.says(f"box/{number}", title, intro, *prose)
    return site


# --- One page each -------------------------------------------------------------------------------


def _article(name: str, number: int) -> tuple[str, list[str]]:
    return words(f"{name} {number}", 3)[:-1], _paragraphs(f"{name} {number}", 4, 30)


def _with_copies(name: str, change: Callable[[int, str, list[str]], str]) -> SmallSite:
    """Pages, of which every third comes a second time, changed: by number, title and text.

    `name`: all sites are crawled at once, and pages of other hosts are compared, too.
    """
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        title, own = _article(name, number)
        html = _themed(title, f"<h1>{title}</h1>{_html(own)}")
        site.add(f"{name}/{number}", html, *own, copy=False)
        site.says(f"{name}/{number}", title, *own)
        if number % 3 == 0:
            copy = f"again/{name}/{number}"
            site.add(copy, change(number, title, own), *own, copy=False)
            site.copies[copy] = f"{name}/{number}"
    return site


def copies_without_the_side_bar() -> SmallSite:
    return _with_copies(
        "bar", lambda _, title, own: _themed(title, f"<h1>{title}</h1>{_html(own)}", side=False)
    )


def print_views() -> SmallSite:
    return _with_copies(
        "print",
        lambda number, title, own: document(
            title,
            f"<div class=print><p>Printed from /print/{number}</p><h1>{title}</h1>{_html(own)}"
            "<p><a href=#>Print this page</a></p></div>",
        ),
    )


def one_line_more() -> SmallSite:
    return _with_copies(
        "more",
        lambda number, title, own: _themed(
            title, f"<h1>{title}</h1>{_html([*own, words(f'a line more {number}', 8)])}"
        ),
    )


def dates_and_counters() -> SmallSite:
    """The date of the visit, and how often a page was seen, stand in the text and beside it."""
    months = ("January", "May", "October")

    def dated(number: int, title: str, own: list[str], visit: int) -> str:
        date = f"{1 + (number + 5 * visit) % 28} {months[(number + visit) % 3]} 2024"
        seen = f"<p>Seen {100 + 7 * number + 50 * visit} times, last on {date}</p>"
        foot = f"<p>{FOOT}</p><p>Today is {date}.</p>"
        return _themed(title, f"<h1>{title}</h1>{seen}{_html(own)}", foot=foot)

    site = _with_copies("dated", lambda number, title, own: dated(number, title, own, 1))
    for number in range(N_PAGES):
        title, own = _article("dated", number)
        site.pages[f"dated/{number}"] = dated(number, title, own, 0)
        site.says(f"dated/{number}", title, "Seen 100 times, last on 5 May 2024", *own)
    return site


LOOK_ALIKES: tuple[Callable[[], SmallSite], ...] = (
    answers_below_a_question,
    products_with_one_description,
    shirts_of_one_name,
    members_of_different_classes,
    a_footer_longer_than_the_text,
    prose_in_a_box_of_links,
    copies_without_the_side_bar,
    print_views,
    one_line_more,
    dates_and_counters,
)
