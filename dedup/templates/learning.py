"""Learning a site's templates from some of its pages.

What a template repeats on page after page is its furniture; where the words stand that no other
page has is the content. Each line is credited to all boxes around it. A page's *own* characters are
those of lines that no page of another name has, without the words in links: menus that differ from
section to section would count otherwise. Each page's own characters lead from the body down to the
innermost box that has nine tenths of them; pages that go the same way are of one template. Its
content box is that box or one around it, whichever leaves out most furniture for the least loss.

Five to ten pages are enough, and more are no better. Takes time linear in the lines of the pages,
a millisecond or so a page.

Source: see `dedup.templates.template`; Gibson, Punera, Tomkins, The volume and evolution of web
page templates, WWW 2005, on counting lines over the pages of one host.
"""

from __future__ import annotations

from collections.abc import Sequence

from dedup.templates.content_box import content_box, holds, template_of
from dedup.templates.grouping import PAGES, Branch, grow, of_one_kind, page_groups, voters
from dedup.templates.measuring import MeasuredPage, Sample, count_names, measured
from dedup.templates.template import Template


def learn(samples: Sequence[Sample], *, min_pages: int = PAGES) -> list[Template]:
    """Return the templates that at least `min_pages` of the pages, of different names, have.

    The same pages in the same order give the same templates.
    """
    pages = voters(measured(samples), min_pages)
    root = Branch("body", frozenset(), 0, None, pages)
    grow(root)
    groups: dict[int, tuple[Branch, list[MeasuredPage]]] = {}
    for branch, group in page_groups(root):
        box = content_box(branch, group)
        groups.setdefault(id(box), (box, []))[1].extend(group)
    templates = []
    for box, group in groups.values():
        for pages in [group] if box.depth else of_one_kind(group):
            if count_names(pages) >= min_pages:
                template = template_of(box, pages)
                if holds(template, box, pages):
                    templates.append(template)
    return templates
