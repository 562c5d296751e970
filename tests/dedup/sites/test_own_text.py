"""Which lines of a page are its own, on small sites: one for each way of putting text around."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.sites.lines import Keys, PageLines
from dedup.sites.outline import Outline
from dedup.sites.own_text import N_FIGURES, Knowledge, Measured
from dedup.sites.site import Site, learn, name_key
from tests.dedup.sites.conftest import (
    FOOTER,
    MENU,
    blog_index,
    blog_post,
    flat,
    learned,
    outlines,
    parsed,
    prose,
    read,
    sphinx,
    table_layout,
    title_of,
    url_of,
)

Page = Callable[[int], str]


def paragraphs(*names: object, n_words: int = 30) -> str:
    return "".join(f"<p>{prose(name, n_words)}</p>" for name in names)


def links(*names: object, n_words: int = 4) -> str:
    entries = (f"<li><a href='/{name}'>{prose(name, n_words)}</a></li>" for name in names)
    return f"<ul>{''.join(entries)}</ul>"


def references(*names: object, n_words: int = 4) -> str:
    return links(*names, n_words=n_words).replace("href='", "href='https://elsewhere.example")


def site_with(content: Callable[[int], str], n_pages: int = 20) -> Site:
    return learned(*(sphinx(n, content=content(n)) for n in range(n_pages)))


def text(site: Site, content: str, number: int = 99) -> str:
    return read(site, sphinx(number, content=content), number).text


# --- What stands around ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_pages", [4, 10, 11, 64, 100])
def test_a_page_is_read_without_what_stands_around(page: Page, n_pages: int) -> None:
    own = read(learned(*map(page, range(n_pages))), page(50), 50)
    assert prose(50) in own.text
    assert prose("menu 7", 3) not in own.text
    assert prose("about the author", 60) not in own.text
    assert own.title == "Page 50"


@pytest.mark.parametrize("n_words", [3, 8, 20, 400])
def test_pages_shorter_than_their_side_bar_are_read(n_words: int) -> None:
    site = learned(*map(sphinx, range(10)))
    assert text(site, f"<p>{prose('short', n_words)}", 50) == f"Page 50\n{prose('short', n_words)}"


def test_a_footer_larger_than_the_text_is_left_out() -> None:
    footer = f"<div class=about>{paragraphs(*(f'foot {n}' for n in range(12)))}</div>"
    site = learned(*(sphinx(n) + footer for n in range(12)))
    found = read(site, sphinx(50, content=paragraphs("short", n_words=20)) + footer, 50)
    assert found.text == f"Page 50\n{prose('short', 20)}"


def test_menu_with_varying_entries_is_left_out() -> None:
    """Its links lead to the pages nearby: they are rare, but links."""

    def content(number: int) -> str:
        nearby = links(*(f"near {number} {n}" for n in range(20)))
        return f"{paragraphs(number, n_words=80)}<div class=nearby>{nearby}</div>"

    found = text(site_with(content), content(99))
    assert prose(99, 80) in found
    assert prose("near 99 3", 4) not in found


def test_a_breadcrumb_is_left_out() -> None:
    def body(number: int) -> str:
        way = links("the start", "all of the parts", "this part of the manual")
        return f"<div class=crumbs>{way}</div>{sphinx(number)}"

    found = read(learned(*map(body, range(12))), body(50), 50).text
    assert prose("the start", 4) not in found
    assert found.startswith("Page 50\n")


def test_a_box_of_the_same_words_inside_the_text_is_left_out() -> None:
    donate = "<div class=donate><p>Please</p><p>" + prose("give", 20) + "</p><p>Thanks</p></div>"

    def content(number: int) -> str:
        return paragraphs(number) + donate + paragraphs(f"{number} more")

    found = text(site_with(content), content(99))
    assert prose("give", 20) not in found
    assert prose(99, 30) in found
    assert prose("99 more", 30) in found


def test_a_link_bar_of_any_length_is_left_out() -> None:
    longer = links(*(f"other {n}" for n in range(900)), n_words=3)
    found = read(learned(*map(sphinx, range(10))), sphinx(50).replace(MENU, longer), 50)
    assert prose("other 5", 3) not in found.text


# --- What is content ------------------------------------------------------------------------------


# What an article has below its text, and whether it is its own.
LISTS: dict[str, tuple[Callable[[int], str], bool]] = {
    "references": (lambda n: references(*(f"reference {n} {k}" for k in range(6))), True),
    "related posts": (lambda n: links(*(f"title {(7 * n + k) % 40}" for k in range(6))), False),
    "links of the page alone": (lambda n: links(*(f"link {n} {k}" for k in range(6))), False),
    "menu": (lambda n: links(*(f"entry {k}" for k in range(6))), False),
    "share buttons": (lambda n: references(*(f"share {k}" for k in range(6))), False),
    "blogroll": (lambda n: references(*(f"friend {k}" for k in range(20))), False),
    "advertising": (lambda n: references(*(f"ad {(5 * n + k) % 12}" for k in range(6))), False),
}


@pytest.mark.parametrize(("content", "is_own"), LISTS.values(), ids=LISTS)
def test_of_lists_of_links_unique_references_to_other_sites_stay(
    content: Callable[[int], str], is_own: bool
) -> None:
    def page(number: int) -> str:
        return f"<p>{prose(number)}</p>{content(number)}"

    own = text(site_with(page, 40), page(7), 7)
    entries = [line.text for line in parsed(content(7)).lines]
    assert prose(7) in own
    assert [line in own for line in entries] == [is_own] * len(entries)


def test_all_kinds_of_content_stay() -> None:
    content = (
        "<figure><pre>def f():\n    pass</pre><figcaption>Listing</figcaption></figure>"
        "<aside class=note>A note.</aside><div role=tabpanel hidden>The other tab</div>"
        "<div id=recommendations>Recommended values</div><div class=share>Shared memory</div>"
        "<ul><li><a href=a>only</a><li><a href=b>links</a></ul><dl><dt>term<dd>meaning</dl>"
        "<table><tr><td>cell</table><div class=navigation>Navigation of ships</div>"
    )
    found = text(learned(*map(sphinx, range(10))), content, 50)
    expected = ["Page 50", "def f():", "    pass", "Listing", "A note.", "The other tab"]
    expected += ["Recommended values", "Shared memory", "only", "links", "term", "meaning"]
    assert found.splitlines() == [*expected, "cell", "Navigation of ships"]


def test_a_page_of_links_among_pages_of_prose_is_read() -> None:
    content = links(*(f"entry {n}" for n in range(300)))
    found = text(learned(*map(sphinx, range(10))), content, 50)
    assert prose("entry 299", 4) in found
    assert prose("menu 7", 3) not in found


def test_pages_of_links_alone_are_read() -> None:
    def content(number: int) -> str:
        return links(*(f"{number} {n}" for n in range(30)), n_words=5)

    found = text(site_with(content), content(50), 50)
    assert prose("50 7", 5) in found
    assert prose("menu 7", 3) not in found


def test_rare_list_of_contents_is_content() -> None:
    def content(number: int) -> str:
        contents = links(*(f"chapter {number} {n}" for n in range(20)))
        return paragraphs(number, n_words=80) + (
            f"<div class=toctree>{contents}</div>" if number % 10 == 0 else ""
        )

    found = text(site_with(content, 40), content(50), 50)
    assert prose("chapter 50 3", 4) in found
    assert prose(50, 80) in found


@pytest.mark.parametrize("posts_first", [True, False])
def test_lists_of_entries_and_entries_are_read(posts_first: bool) -> None:
    posts, lists = [*map(blog_post, range(12))], [*map(blog_index, range(12))]
    site = learned(*(posts + lists if posts_first else lists + posts))
    post, index = read(site, blog_post(50), 50), read(site, blog_index(70), 70)
    assert prose(50) in post.text
    assert all(prose(n, 40) in index.text for n in range(700, 710))
    for own in (post, index):
        assert prose("about the author", 60) not in own.text


def test_question_and_answers_in_several_boxes_stay() -> None:
    def content(number: int) -> str:
        answers = "".join(
            f"<div class=answer>{paragraphs(f'{number} {n}')}<p>{n} points<p>by {n}</div>"
            for n in range(number % 4)
        )
        return f"<div class=question>{paragraphs(number)}<p>asked<p>today</div>{answers}"

    found = text(site_with(content), content(99))
    for name in (99, "99 0", "99 1", "99 2"):
        assert prose(name, 30) in found


def test_entries_that_many_pages_repeat_stay() -> None:
    """Products that stand on the pages of several categories."""

    def content(number: int) -> str:
        entries = (number, number + 1, number + 2, number + 3)
        return "".join(
            f"<div class=product><h3>{prose(f'name {n}', 3)}</h3>{paragraphs(f'product {n}')}"
            f"<p>Price: {n} coins</p></div>"
            for n in entries
        )

    found = text(site_with(content, 30), content(28), 98)
    for number in (28, 29, 30, 31):
        assert prose(f"product {number}", 30) in found


def test_a_box_of_links_that_later_holds_prose_is_read() -> None:
    def body(number: int, side: str) -> str:
        return f"{sphinx(number)}<div class=side>{side}</div>"

    near = links("near", "nearer", "nearest", "over there", "and here", "and there")
    site = learned(*(body(n, near) for n in range(30)))
    story = paragraphs(*(f"story {n}" for n in range(6)), n_words=60)
    found = read(site, body(50, story), 50).text
    assert all(prose(f"story {n}", 60) in found for n in range(6))


def test_footer_with_a_story_is_read() -> None:
    site = learned(*map(sphinx, range(10)))
    grown = paragraphs(*(f"whole story {n}" for n in range(8)), n_words=80)
    found = read(site, sphinx(50).replace(FOOTER, grown), 50).text
    assert prose("whole story 7", 80) in found


def test_what_is_added_in_a_new_place_is_not_lost() -> None:
    site = learned(*map(sphinx, range(10)))
    addition = f"<div class=news>{paragraphs('a', 'b', 'c', 'd', n_words=60)}</div>"
    found = read(site, sphinx(50) + addition, 50).text
    assert prose("a", 60) in found
    assert prose(50) in found


def test_copies_do_not_count_as_repetition() -> None:
    """A manual in four versions: every line of it is on four pages."""
    pages = [
        (parsed(sphinx(n)), f"Page {n} - The site {version}.0", url_of(n))
        for n in range(10)
        for version in range(4)
    ]
    counts = learn(pages)
    assert counts.n_names == 10
    found = read(Site(counts, version=1), sphinx(3), 3).text
    assert prose(3) in found
    assert FOOTER not in found


@pytest.mark.parametrize("other", [table_layout, flat, blog_post])
def test_a_page_of_another_template_keeps_its_text(other: Page) -> None:
    assert prose(50) in read(learned(*map(sphinx, range(10))), other(50), 50).text


def test_kinds_of_pages_of_one_site_are_read() -> None:
    kinds: list[Page] = [sphinx, table_layout, blog_post]
    site = learned(*(kind(100 * place + n) for n in range(12) for place, kind in enumerate(kinds)))
    for place, kind in enumerate(kinds):
        number = 100 * place + 77
        found = read(site, kind(number), number).text
        assert prose(number) in found
        assert prose("menu 7", 3) not in found


def test_a_wrapper_more_changes_nothing() -> None:
    site = learned(*map(sphinx, range(10)))
    wrapped = sphinx(50).replace("<div class=document>", "<div class=document><div class=row>")
    wrapped = wrapped.replace(
        "</div></div><div class=sphinx", "</div></div></div><div class=sphinx"
    )
    found = read(site, wrapped, 50).text
    assert prose(50) in found
    assert prose("menu 7", 3) not in found


# --- Any page, and the same in plain Python -------------------------------------------------------


def nothing(page: PageLines) -> Knowledge:
    """Knowledge of a site of which all is new."""
    ones, n_boxes = np.ones(len(page)), len(page.kinds)
    return Knowledge(0, ones, ones, np.zeros(n_boxes), np.zeros((n_boxes, N_FIGURES)))


@settings(deadline=None)
@given(outlines())
def test_where_nothing_is_known_all_words_of_some_box_are_own(page: Outline) -> None:
    lines = PageLines(page)
    own = Measured(lines, nothing(lines)).own()
    words = lines.sizes * np.where(own.is_own, 1.0, 0.0)
    assert 2 * words.sum() >= len(lines.distinct_keys())
    assert own.left_out == []


HUGE = Outline.from_json(
    parsed("".join(f"<div class=c{'x' * (n % 9)}>{n}a<p>b{n}<p>c</div>" for n in range(5_000)))
    .without_inner_boxes()
    .to_json()
)


@settings(deadline=None, max_examples=60)
@given(st.lists(outlines(), min_size=1, max_size=8), st.integers(0, 7))
def test_any_page_is_read_by_any_pages(pages: list[Outline], which: int) -> None:
    numbered = [(page, title_of(n), url_of(n)) for n, page in enumerate(pages)]
    site = Site(learn(numbered), version=1)
    page = pages[which % len(pages)]
    for each in (page, HUGE, parsed("one line"), Outline(page.boxes, page.lines * 3)):
        own = site.read(each, "A title", url_of(which))
        assert (own is None) == (not each.lines)
        if own is not None:
            texts = {line.text for line in each.lines} | {""}
            assert set(own.text.replace("\t", "\n").split("\n")) <= texts
            assert np.isfinite(own.contribution.figures).all()
    assert site.read(Outline(page.boxes, []), "A title", url_of(1)) is None


@settings(deadline=None, max_examples=60)
@given(st.lists(outlines(), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_order_of_pages_makes_no_difference(pages: list[Outline], choose: object) -> None:
    """That the first pages come in: of each name the same one counts, and all lines first."""
    numbered = {
        name_key(page, title_of(n), url_of(n)): (page, title_of(n), url_of(n))
        for n, page in enumerate(pages)
    }
    shuffled = list(numbered.values())
    choose.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = learn(numbered.values()), learn(shuffled)
    assert first.lines.tolist() == second.lines.tolist()
    assert first.line_counts.tolist() == second.line_counts.tolist()
    assert first.kinds.tolist() == second.kinds.tolist()
    assert np.allclose(first.kind_sums, second.kind_sums, rtol=1e-5)


class Counted:
    """Lines of a site counted in plain Python."""

    def __init__(self, pages: Iterable[Outline]) -> None:
        self._pages = [set(PageLines(page).keys.tolist()) for page in pages]
        self.n_names = len(self._pages)

    def counts(self, keys: Keys) -> np.ndarray:
        counts = [sum(key in page for page in self._pages) for key in keys.tolist()]
        return np.array([max(1, count) for count in counts], float)

    def rarity(self, keys: Keys) -> np.ndarray:
        n = self.n_names
        return np.array([max(0, 1 - log(count) / log(0.5 * n)) for count in self.counts(keys)])

    def of(self, page: PageLines) -> Knowledge:
        known = nothing(page)
        return known._replace(
            n_names=self.n_names, counts=self.counts(page.keys), rarity=self.rarity(page.keys)
        )


def test_figures_of_boxes_are_those_of_plain_python(page: Page) -> None:
    """Bare words, those elsewhere, share of the rest, and mean rarity: box by box, line by line."""
    pages = [parsed(page(number)) for number in range(12)]
    known, lines = Counted(pages), PageLines(pages[3])
    rarity = known.rarity(lines.keys)
    plain = (lines.sizes - lines.linked) * rarity
    said: set[int] = set()
    worth = []
    for number in sorted(range(len(lines)), key=lambda n: (int(lines.keys[n]) & 1, n)):
        is_new = int(lines.keys[number]) >> 1 not in said
        said.add(int(lines.keys[number]) >> 1)
        worth.append((number, lines.sizes[number] * is_new))
    sizes = np.array([size for _, size in sorted(worth)])
    found = Measured(lines, known.of(lines)).figures()
    kinds = lines.kinds.tolist()
    for box, (first, end) in enumerate(zip(lines.first, lines.end, strict=True)):
        if kinds.count(kinds[box]) > 1:
            continue
        inside = slice(first, end)
        bare = plain[inside].sum() / max(1, lines.sizes[inside].sum())
        elsewhere = min(200, plain.sum() - plain[inside].sum())
        share = (sizes * rarity)[inside].sum() / ((sizes * rarity).sum() or 1)
        mean = (sizes * rarity)[inside].sum() / max(1, sizes[inside].sum())
        assert found[box] == pytest.approx([bare, elsewhere, share, mean])
