"""Removes notices in front of a page: about cookies, age or payment."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dedup.html.bounds import Bounded
from dedup.html.shown import around
from dedup.sites.outline import count_characters

_NOTICE = re.compile(
    r"""(?ix) (?:^|[\s_-]) (?:
        cookies? | consent\w* | gdpr | ccpa | privacy | onetrust | cmp
        | modals? | overlay | pop-?up | lightbox | interstitial | dialog
        | gate | (?:pay|reg|ad)-?wall | age-?(?:gate|check|verif\w+)
        ) (?:$|[\s_-])"""
)


def without_notice(page: Bounded, article: LexborNode) -> str | None:
    """Return the page without the notice that was taken for its article.

    None: `article` is not a notice, or the notice has most of the page's text and so is the page.
    `article` is an element of the page's tree, which is not changed.
    """
    notices = list(filter(_is_notice, around(article)))
    if not notices:
        return None
    notice = notices[-1]
    if count_characters(page.tree.body) < 2 * count_characters(notice):
        return None
    alike = page.tree.css(notice.tag or "*")
    place = next(n for n, each in enumerate(alike) if each.mem_id == notice.mem_id)
    copy = LexborHTMLParser(page.html, scripting=True)
    copy.css(notice.tag or "*")[place].decompose()
    return copy.html


def _is_notice(element: LexborNode) -> bool:
    attributes = element.attributes
    if element.tag == "dialog" or attributes.get("aria-modal") == "true":
        return True
    if attributes.get("role") in ("dialog", "alertdialog"):
        return True
    names = " ".join(attributes.get(name) or "" for name in ("class", "id"))
    return _NOTICE.search(names) is not None
