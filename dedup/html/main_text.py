"""The main text of a page: what two copies share when menus and advertisements differ.

The extractors on 181 articles (the script `extraction.py` of the measurements prints the figures):
4-grams of words against the true text; medians of one run on 2 cores.

| extractor   | precision | recall | F1   | ms a page |
|-------------|-----------|--------|------|-----------|
| content     | .901      | .984   | .941 | 5.5       |
| resiliparse | .898      | .984   | .939 | 5.5       |
| trafilatura | .928      | .979   | .953 | 11.0      |
| all         | .512      | .994   | .676 | 2.5       |

That is `content` for pages by themselves: its rules are those of resiliparse, and more is kept of
what the page declares to be its main part. Where a site is known, what it repeats tells, and
the rules are not asked. Recall comes first: what is left out can make two pages the same. On a
documentation site of 3,105 pages the rules leave 161 with too little text for a fingerprint,
trafilatura 371.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser, LexborNode

from dedup.extras import load_extra
from dedup.html.article import find_article, without_what_is_beside
from dedup.html.bounds import Bounded, bounded
from dedup.html.notice import without_notice
from dedup.html.shown import shown
from dedup.html.structured import hidden_article
from dedup.html.unfolding import has_folded_content
from dedup.sites.outline import outline, text_of

DEFAULT_EXTRACTOR = "content"

_TINY_CHARACTERS = 300
_TINY_SHARE = 0.1
_NO_TEXT_CHARACTERS = 200
_LANDMARKS = ("[itemprop=articleBody]", "main, [role=main]", "article")
_LANDMARK_SHARE = 0.3
_LANDMARK_CHARACTERS = 200
"""A landmark with less text than that, and than this share of what rules find, is not the page's
main part."""
_TRAFILATURA_MAX_CHARACTERS = 2_000_000

# What begins with a character that has no case is searched for several times as fast.
_UL = re.compile(r"<(?i:ul)(?=[\s>/])")
_UL_END = re.compile(r"</(?i:ul)(?=[\s>/])")
_NOSCRIPT = re.compile(r"<(?i:noscript)(?=[\s/>])")
_NOSCRIPT_END = re.compile(r"</(?i:noscript)[^>]*+>")
_FIGURE = re.compile(r"<(/?)(?i:figure)(?=[\s/>])")
_PRE = "<pre"
_HIGHLIGHTED = re.compile(r"""<span(?: class="(?:[a-z][a-z\d]?|pre)")?>([^<]*)</span>""")
"""A word of a program with its colour: classes of one or two letters, by Pygments and others, and
Sphinx's `pre`. No rule of resiliparse's asks for these, but each element costs it 2 µs."""

_MANY_SPANS = 20

_LONE = re.compile(
    r"""(>\s*+ [^\s<&]?                  # behind a tag, at most one character, and
        (?: [^\0-\x7f\ue000-\uf8ff]     # one of several bytes, not of private use as icons are,
          | &(?!\#(?:[xX][eEfF]\w{3}|5[7-9]\d{3}|6[0-3]\d{3});)\#?\w{2,9};  # or its name
        )) (?=\s*<)""",
    re.VERBOSE,
)
_MARK = "\ufdd0"  # no character
_TEMPLATE_SCRIPTS = 'script[type*="template" i], script[type="text/html" i]'


class MainText(NamedTuple):
    """The main text of a page, and whether the page itself declares where it stands."""

    text: str
    is_declared: bool


def extract_text(html: str | Bounded, *, extractor: str = DEFAULT_EXTRACTOR) -> str:
    r"""Extract the main text of a single page, without markup, each block on a line of its own.

    `extractor` is one of
        `content`: what the page declares to be its article or its main part, by landmarks
            (`<main>`, `<article>` and the like), as a whole where it has programs, tables or
            definitions, and by the rules of `resiliparse` otherwise and elsewhere. Where the pages
            of a site are known, what they repeat tells better: see `dedup.html.page_text`;
        `resiliparse`: rules on tags and class names; keeps comments and the text of form fields
            (all that tells some pages apart), leaves out alternative texts and list bullets; of a
            page that declares an article, the article alone (see `dedup.html.article`);
        `trafilatura`: more careful at ten to twenty times the cost; to be installed apart;
        `all`: all visible text.

    Nothing unique may be lost with the menus, so all visible text is taken instead of a main text
    that is suspiciously small: under 300 characters (some 50 words: too short for fingerprints) and
    under a tenth of the visible text. On 1,022 pages of a documentation site main text alone was
    empty for 65; with this rule no two different pages came out the same. A share of a fifth let
    menus in, and made more short pages near duplicates of each other; a bound of 1,000 characters
    lost the main text of short articles between long menus. Content that waits in a `<template>` or
    a template script for the browser to unfold it is added where there is next to no other text
    (200 characters), or less than of it: a manual's one-page edition showed one chapter of twelve.

    A page that would take a parser seconds (see `dedup.html.bounds`), and for trafilatura one of
    over 2 million characters, is given to a linear method: all visible text, or resiliparse.
    Never raises for a bad page; the text of an empty one is "".

    Raises:
        ValueError: unknown extractor.
        ImportError: trafilatura is asked for, and not installed or not complete.

    >>> extract_text("<body><p>One.<p>Two.<ul><li>Three</ul>")
    'One.\nTwo.\nThree'
    """
    return main_text(html, extractor=extractor).text


def main_text(html: str | Bounded, *, extractor: str = DEFAULT_EXTRACTOR) -> MainText:
    """The same, and whether the page declares it. See `extract_text`."""
    if extractor not in _EXTRACTORS:
        known = ", ".join(repr(name) for name in _EXTRACTORS)
        raise ValueError(f"extractor must be one of {known}, got {extractor!r}")
    page = bounded(html)
    if page.is_flat:
        found = MainText(_all(page), is_declared=False)
    else:
        found = _EXTRACTORS[extractor](page)
    text = found.text
    if len(text) < _TINY_CHARACTERS:
        visible = _all(page)
        if len(text) < _TINY_SHARE * len(visible):
            text, found = visible, MainText(visible, is_declared=False)
    if extractor == "content" and (hidden := hidden_article(page, text)):
        text, found = f"{text}\n{hidden}", MainText(text, is_declared=True)
    if has_folded_content(page.html):
        folded = _plain(_templates(page.html))
        if len(text) < max(_NO_TEXT_CHARACTERS, len(folded)):
            text = f"{text}\n{folded}"
    lines = map(str.strip, text.splitlines())
    return found._replace(text="\n".join(line for line in lines if line))


def _content(page: Bounded) -> MainText:
    html = _without_noscript(page)
    if _PRE in html:
        html = _FIGURE.sub(r"<\1div", html)  # a program in one is no picture
    text = _by_rules(html)
    declared = _declared(page, text, _content)
    if declared is not None:
        return declared
    landmark = _landmark(page)
    if landmark is not None:
        least = _LANDMARK_SHARE * len(text)
        whole = landmark.css_first("dl, pre, table") is not None
        main = _whole(landmark) if whole else _by_rules(f"<body><main>{shown(landmark)}</main>")
        if len(main) < least:  # rules have taken its lists for menus
            main = _whole(landmark)
        if landmark.tag != "article":  # which may be a notice
            least = min(_LANDMARK_CHARACTERS, least)
        if len(main) >= least:
            return MainText(main, is_declared=True)
    return MainText(text, is_declared=False)


def _landmark(page: Bounded) -> LexborNode | None:
    """The one element that the page marks as its article's text, its main part, or its article."""
    for landmark in _LANDMARKS:
        found = page.tree.css(landmark)
        if len(found) == 1:
            return found[0]
    return None


def _whole(element: LexborNode) -> str:
    found = outline(element, with_links=False)
    return text_of(found.boxes, found.lines)


def _main(page: Bounded) -> MainText:
    text = _by_rules(_without_noscript(page))
    return _declared(page, text, _main) or MainText(text, is_declared=False)


def _declared(page: Bounded, text: str, again: Callable[[Bounded], MainText]) -> MainText | None:
    """The text of the article that the page declares, or where that is a notice, of the rest."""
    article = find_article(page, text_length=len(text))
    if article is None:
        return None
    rest = without_notice(page, article)
    if rest is not None:
        return again(bounded(rest))
    markup = without_what_is_beside(article)
    return MainText(_by_rules(f"<body><main>{markup}</main>") or text, is_declared=True)


def _by_rules(html: str) -> str:
    # resiliparse takes every <ul> within three levels of <body> for a menu, and on plain pages
    # drops the content's own lists; it judges an <ol> by its class names like any other element.
    text = extract_plain_text(
        _UL_END.sub("</ol", _UL.sub("<ol", _with_lone_characters(_without_highlighting(html)))),
        main_content=True,
        list_bullets=False,
        alt_texts=False,
        form_fields=True,
        post_meta=False,
    )
    return str(text).replace(_MARK, "").strip()


def _with_lone_characters(html: str) -> str:
    """Have the characters kept that are all the text of an element.

    resiliparse leaves out what might be an icon: any text of three bytes, by its last byte. So a
    table's cells would lose 有 and →, and also `né`. With a mark, the text is longer.
    """
    return _LONE.sub(rf"\1{_MARK}", html)


def _without_highlighting(html: str) -> str:
    if html.count("<span") < _MANY_SPANS:
        return html
    return "".join(
        _HIGHLIGHTED.split(html)
    )  # with what the group holds; `sub` takes thrice as long


def _without_noscript(page: Bounded) -> str:
    """The page as browsers with scripts see it: an element left open in there would hide the rest.

    As parsers find the end of raw text: by the next end tag, whatever stands before it.
    """
    html = page.html
    tags = list(_NOSCRIPT.finditer(html))
    if not tags:
        return html
    if len(tags) != len(page.tree.css("noscript")):  # in a script or a comment they are no tags
        tree = LexborHTMLParser(html)
        for node in tree.css("noscript"):
            node.decompose()
        return tree.html or ""
    kept, start = [], 0
    for tag in tags:
        if tag.start() < start:
            continue
        end = _NOSCRIPT_END.search(html, tag.end())
        kept.append(html[start : tag.start()])
        start = len(html) if end is None else end.end()
    return "".join((*kept, html[start:]))


def _all(page: Bounded) -> str:
    return _plain(_without_noscript(page))


def _all_visible(page: Bounded) -> MainText:
    return MainText(_all(page), is_declared=False)


def _plain(html: str) -> str:
    text = extract_plain_text(html, list_bullets=False, alt_texts=False, form_fields=True)
    return str(text).strip()


def _trafilatura(page: Bounded) -> MainText:
    html = page.html
    if len(html) > _TRAFILATURA_MAX_CHARACTERS:
        return _main(page)
    purpose = 'extractor "trafilatura"'
    trafilatura = load_extra("trafilatura", extra="trafilatura", purpose=purpose)  # 0.3 s
    text = trafilatura.extract(html.replace("\0", ""), fast=True, favor_recall=True) or ""
    return MainText(text, is_declared=False)


def _templates(html: str) -> str:
    """The markup that scripts would unfold into the page."""
    tree = LexborHTMLParser(html)
    scripts = [script.text() for script in tree.css(_TEMPLATE_SCRIPTS)]
    return "\n".join(scripts + [fragment.html or "" for fragment in tree.template_fragments()])


_EXTRACTORS: dict[str, Callable[[Bounded], MainText]] = {
    "content": _content,
    "resiliparse": _main,
    "trafilatura": _trafilatura,
    "all": _all_visible,
}
EXTRACTORS = tuple(_EXTRACTORS)
"""The names that `extract_text` knows."""
