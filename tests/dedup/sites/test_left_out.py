"""What a template leaves out, told of a page and of the template."""

from __future__ import annotations

from dedup.templates.learning import learn
from dedup.templates.left_out import left_out_by, left_out_of
from dedup.templates.template import Template
from tests.dedup.templates.conftest import FOOTER, flat, sample, sphinx


def template_of(*bodies: str) -> Template:
    samples = [sample(f"Page {n} - The site", body) for n, body in enumerate(bodies)]
    (template,) = learn(samples, min_pages=10)
    return template


def test_boxes_of_a_page_are_told_with_what_the_learned_pages_say_of_them() -> None:
    template = template_of(*map(sphinx, range(10)))
    assert str(template).endswith("div.document")
    page = sample("Page 50", sphinx(50) + "<div class=ad>Buy this.</div><div class=empty></div>")
    menu, footer, other = left_out_of(template, page.outline)
    assert (menu.box, menu.n_pages, menu.n_learned, menu.is_links) == (
        *("div.sphinxsidebar", 10, 10),
        True,
    )
    assert (footer.box, footer.characters) == ("div.footer", len(FOOTER))
    assert footer.repeated_share == 1.0
    assert str(footer) == (
        "div.footer, on 10 of the 10 pages learned from, words, 100% of them on other pages, too"
    )
    assert str(other) == "div.ad, on none of the 10 pages learned from"


def test_boxes_of_a_template_are_told_the_most_common_first() -> None:
    bodies = [sphinx(n) + ("<div class=ad>Buy this.</div>" if n < 3 else "") for n in range(10)]
    found = left_out_by(template_of(*bodies))
    assert [(each.box, each.n_pages) for each in found] == [
        ("div.sphinxsidebar", 10),
        ("div.footer", 10),
        ("div.ad", 3),
    ]


def test_pages_count_once_however_many_of_their_boxes_are_alike() -> None:
    bodies = [sphinx(n) + 2 * "<div class=ad>Buy this.</div>" for n in range(10)]
    found = {each.box: each.n_pages for each in left_out_by(template_of(*bodies))}
    assert found["div.ad"] == 10


def test_furniture_directly_in_the_body_is_told() -> None:
    template = template_of(*map(flat, range(10)))
    assert str(template) == "body"
    found = left_out_of(template, sample("Page 50", flat(50)).outline)
    assert [each.box for each in found] == ["div.header", "div.footer"]


def test_page_of_another_template_has_nothing_left_out() -> None:
    template = template_of(*map(sphinx, range(10)))
    assert left_out_of(template, sample("Page 50", flat(50)).outline) == []
