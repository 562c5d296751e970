"""What is learned of a site's templates, from how few pages, and what pages give by it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from dedup.templates.learning import learn
from dedup.templates.measuring import Sample
from dedup.templates.site import OwnText, Site
from dedup.templates.template import Template
from tests.dedup.templates.conftest import (
    FOOTER,
    MENU,
    blog_index,
    blog_post,
    flat,
    generated_names,
    parsed,
    prose,
    sample,
    sphinx,
    table_layout,
)

from dedup.sites.outline import Outline

Page = Callable[[int], str]


def site_of(*bodies: str, min_pages: int = 10) -> Site:
    samples = [sample(f"Page {n} - The site", body) for n, body in enumerate(bodies)]
    return Site(learn(samples, min_pages=min_pages))


def read(site: Site, body: str, title: str = "Page 99 - The site") -> OwnText | None:
    """The text of a page, which is the same by its tree and by its outline."""
    tree = parsed(body)
    by_tree = site.read(tree, title)
    kept = Outline.from_json(sample(title, body).outline.to_json())
    assert by_tree == site.read_outline(kept, title)
    return by_tree


def test_ten_pages_tell_what_a_page_says_itself(page: Page) -> None:
    site = site_of(*map(page, range(10)))
    assert len(site.templates) == 1
    own = read(site, page(50))
    assert own is not None
    assert prose(50) in own.text
    assert prose("footer", 30) not in own.text
    assert prose("menu 7", 3) not in own.text
    assert own.title == "Page 99"


def test_nine_pages_tell_nothing(page: Page) -> None:
    assert site_of(*map(page, range(9))).templates == ()


def test_where_no_more_will_come_four_pages_do(page: Page) -> None:
    site = site_of(*map(page, range(4)), min_pages=4)
    own = read(site, page(50))
    assert own is not None
    assert prose(50) in own.text
    assert FOOTER not in own.text


def test_copies_are_no_repetition(page: Page) -> None:
    """A manual in four versions: every line of it is on four pages."""
    bodies = [page(n) for n in range(10) for _ in range(4)]
    samples = [
        sample(f"Page {place // 4} - The site {place % 4}.0", body)
        for place, body in enumerate(bodies)
    ]
    site = Site(learn(samples))
    own = read(site, page(3), "Page 3 - The site 1.0")
    assert own is not None
    assert prose(3) in own.text
    assert FOOTER not in own.text
    assert learn(samples[:36]) == []  # nine pages


def test_the_same_pages_give_the_same_templates(page: Page) -> None:
    samples = [sample(f"Page {n}", page(n)) for n in range(20)]
    found = learn(samples)
    assert found == learn(samples)
    assert [Template.from_json(json.loads(json.dumps(each.to_json()))) for each in found] == found


def test_more_pages_do_not_take_the_box_too_deep() -> None:
    """On many pages nine tenths of the text stand in one section of several."""

    def body(number: int) -> str:
        sections = f"<section><p>{prose(number, 300)}</p></section>"
        sections += f"<section><h2>See also</h2><p>{prose(f'see {number}', 25)}</p></section>"
        return sphinx(number, content=sections)

    own = read(site_of(*map(body, range(60))), body(99))
    assert own is not None
    assert prose("see 99", 25) in own.text


@pytest.mark.parametrize("words", [3, 8, 20, 400])
def test_short_pages_are_read_without_the_side_bar(words: int) -> None:
    site = site_of(*map(sphinx, range(10)))
    own = read(site, sphinx(50, content=f"<p>{prose('short', words)}</p>"))
    assert own is not None
    assert own.text == f"Page 50\n{prose('short', words)}"
    assert own.heading == "Page 50"


def test_all_kinds_of_content_stay() -> None:
    content = (
        "<figure><pre>def f():\n    pass</pre><figcaption>Listing</figcaption></figure>"
        "<aside class=note>A note.</aside><div role=tabpanel hidden>The other tab</div>"
        "<div id=recommendations>Recommended values</div><div class=share>Shared memory</div>"
        "<ul><li><a href=a>only</a><li><a href=b>links</a></ul><dl><dt>term<dd>meaning</dl>"
        "<table><tr><td>cell</table><div class=navigation>Navigation of ships</div>"
    )
    own = read(site_of(*map(sphinx, range(10))), sphinx(50, content=content))
    assert own is not None
    expected = ["Page 50", "def f():", "    pass", "Listing", "A note.", "The other tab"]
    expected += ["Recommended values", "Shared memory", "only", "links", "term", "meaning"]
    assert own.text.splitlines() == [*expected, "cell", "Navigation of ships"]


def test_a_page_of_links_is_read_like_the_others() -> None:
    links = "".join(f"<li><a href=/x{n}>{prose(f'entry {n}', 4)}</a></li>" for n in range(300))
    own = read(site_of(*map(sphinx, range(10))), sphinx(50, content=f"<ul>{links}</ul>"))
    assert own is not None
    assert prose("entry 299", 4) in own.text
    assert prose("menu 7", 3) not in own.text


def test_pages_of_links_alone_teach_too() -> None:
    def index(number: int) -> str:
        links = (f"<li><a href=#>{prose(f'{number} {n}', 5)}</a></li>" for n in range(30))
        return sphinx(number, content=f"<ul>{''.join(links)}</ul>")

    own = read(site_of(*map(index, range(20))), index(50))
    assert own is not None
    assert prose("50 7", 5) in own.text
    assert prose("menu 7", 3) not in own.text


def test_each_template_of_a_site_is_learned_by_itself() -> None:
    kinds: list[Page] = [sphinx, table_layout, flat]
    samples = [sample(f"Page {n} {p.__name__}", p(n)) for n in range(12) for p in kinds]
    site = Site(learn(samples))
    assert len(site.templates) == 3
    for kind in kinds:
        own = read(site, kind(77))
        assert own is not None
        assert prose(77) in own.text
        assert prose("menu 7", 3) not in own.text


def test_a_page_of_another_template_is_not_read_by_one_that_is_known() -> None:
    site = site_of(*map(sphinx, range(10)))
    for other in (table_layout, flat, generated_names, blog_post):
        assert read(site, other(5)) is None, other


def test_text_in_a_place_that_no_learned_page_has_is_not_lost() -> None:
    site = site_of(*map(sphinx, range(10)))
    addition = f"<div class=announcement><p>{prose('announcement', 60)}</p></div>"
    assert read(site, sphinx(50) + addition) is None
    assert read(site, sphinx(50) + "<div class=badge>New</div>") is not None


def test_furniture_that_has_become_content_is_not_left_out() -> None:
    site = site_of(*map(sphinx, range(10)))
    grown = sphinx(50).replace(FOOTER, prose("a whole story in the footer", 400))
    assert read(site, grown) is None


def test_a_side_bar_of_links_may_be_of_any_length() -> None:
    site = site_of(*map(sphinx, range(10)))
    longer = "".join(f"<li><a href=/{n}>{prose(f'other {n}', 3)}</a></li>" for n in range(900))
    own = read(site, sphinx(50).replace(MENU, longer))
    assert own is not None
    assert "other" not in own.text


def test_a_wrapper_more_changes_nothing_where_the_box_has_a_name() -> None:
    site = site_of(*map(sphinx, range(10)))
    wrapped = sphinx(50).replace("<div class=document>", "<div class=document><div class=row>")
    own = read(
        site,
        wrapped.replace("</div></div><div class=sphinx", "</div></div></div><div class=sphinx"),
    )
    assert own is not None
    assert prose(50) in own.text
    assert FOOTER not in own.text


def test_a_list_of_entries_and_an_entry_are_two_templates() -> None:
    posts = [sample(f"Post {n}", blog_post(n)) for n in range(12)]
    lists = [sample("The blog", blog_index(n)) for n in range(12)]
    for samples in ([*posts, *lists], [*lists, *posts]):
        site = Site(learn(samples))
        assert len(site.templates) == 2
        post, index = read(site, blog_post(50), "Post 50"), read(site, blog_index(5), "The blog")
        assert post is not None
        assert index is not None
        assert post.text == f"Post 50\n{prose(50)}"
        assert all(prose(n, 40) in index.text for n in range(50, 60))
    only_lists = Site(learn(lists))
    assert read(only_lists, blog_post(50)) is None


def test_the_heading_is_the_pages_own_wherever_it_stands() -> None:
    def body(number: int) -> str:
        return (
            f"<header><h1>The site</h1></header><h1>Page {number}</h1><div class=menu>{MENU}</div>"
            f"<div id=text><p>{prose(number)}</p></div><footer>{FOOTER}</footer>"
        )

    own = read(site_of(*map(body, range(10))), body(50))
    assert own is not None
    assert own.heading == "Page 50"
    assert own.text == f"Page 50\n{prose(50)}"


def test_of_several_headings_the_one_in_the_title_names_the_page() -> None:
    """A dialog that pages of another template have, too."""
    site = site_of(*map(sphinx, range(10)))
    dialog = "<div class=dialog><h1>Any ideas?</h1></div>"
    body = f"{dialog}<h1>Page 50</h1>" + sphinx(50).replace("<h1>Page 50</h1>", "")
    own = read(site, body, "Page 50 - The site")
    assert own is not None
    assert own.heading == "Page 50"


def test_a_site_of_one_title_is_learned() -> None:
    samples = [sample("My site", sphinx(n).replace(f"Page {n}", "")) for n in range(12)]
    own = read(Site(learn(samples)), sphinx(50), "My site")
    assert own is not None
    assert prose(50) in own.text
    assert FOOTER not in own.text


def test_what_was_left_out_can_be_told() -> None:
    (template,) = site_of(*map(sphinx, range(10))).templates
    assert str(template).startswith("body > div.document")
    told = {str(each): each for each in template.left_out()}
    assert told["div.footer"].repeated_share == 1
    assert told["div.sphinxsidebar"].n_pages == 10
    assert told["div.sphinxsidebar"].is_links


def test_nothing_is_learned_of_nothing() -> None:
    assert learn([]) == []
    assert learn([Sample("", Outline())] * 0) == []
    assert site_of(*[""] * 12).templates == ()


def test_names_of_one_page_do_not_count() -> None:
    (template,) = site_of(*map(generated_names, range(10))).templates
    names = {name for step in template.steps for name in step.names}
    assert names == {"_a1", "css-9x8", "_QQYZ"}
