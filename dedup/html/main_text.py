"""The main text of a page: what two copies share when menus and advertisements differ.

Why resiliparse is the default (`tests/benchmarks/extraction.py` prints the figures): 181 articles,
4-grams of words against the true text, and a documentation site of 3,105 pages; 2 cores.

| extractor   | precision | recall | F1   | ms a page | ms on documentation |
|-------------|-----------|--------|------|-----------|---------------------|
| resiliparse | .898      | .984   | .939 | 5.2       | 0.83                |
| trafilatura | .928      | .979   | .953 | 10.2      | 7.7                 |
| all         | .512      | .994   | .676 | 1.8       | 0.31                |

Its recall is the best of the two, at half of the time and less, and recall comes first: what is
left out can make two pages the same. Of the 3,105 pages it leaves 161 with too little text for a
fingerprint, trafilatura 371. What it has too much are bits of menus and captions.
"""

import re
from collections.abc import Callable

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser

from dedup.html.article import article_html
from dedup.html.bounds import Bounded, bounded

DEFAULT_EXTRACTOR = "resiliparse"

_TINY_CHARACTERS = 300
_TINY_SHARE = 0.1
_NO_TEXT_CHARACTERS = 200
_TRAFILATURA_MAX_CHARACTERS = 2_000_000

# What begins with a character that has no case is searched for several times as fast.
_UL = re.compile(r"<(?i:ul)(?=[\s>/])")
_UL_END = re.compile(r"</(?i:ul)(?=[\s>/])")
_TEMPLATE = re.compile(r"<(?:(?i:template)|(?i:script)[^>]*?(?i:template|text/html))")
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


def extract_text(html: str | Bounded, *, extractor: str = DEFAULT_EXTRACTOR) -> str:
    r"""Extract the main text, without markup, each block on a line of its own.

    `extractor` is one of
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
        ModuleNotFoundError: trafilatura is asked for and not installed.

    >>> extract_text("<body><p>One.<p>Two.<ul><li>Three</ul>")
    'One.\nTwo.\nThree'
    """
    if extractor not in _EXTRACTORS:
        known = ", ".join(repr(name) for name in _EXTRACTORS)
        raise ValueError(f"extractor must be one of {known}, got {extractor!r}")
    page = bounded(html)
    text = _all(page) if page.is_flat else _EXTRACTORS[extractor](page)
    if len(text) < _TINY_CHARACTERS:
        visible = _all(page)
        text = visible if len(text) < _TINY_SHARE * len(visible) else text
    if _TEMPLATE.search(page.html):
        folded = _plain(_templates(page.html))
        if len(text) < max(_NO_TEXT_CHARACTERS, len(folded)):
            text = f"{text}\n{folded}"
    lines = map(str.strip, text.splitlines())
    return "\n".join(line for line in lines if line)


def _main(page: Bounded) -> str:
    text = _content(page.html)
    article = article_html(page, text_length=len(text))
    return (article and _content(f"<body><main>{article}</main>")) or text


def _content(html: str) -> str:
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


def _all(page: Bounded) -> str:
    return _plain(page.html)


def _plain(html: str) -> str:
    text = extract_plain_text(html, list_bullets=False, alt_texts=False, form_fields=True)
    return str(text).strip()


def _trafilatura(page: Bounded) -> str:
    html = page.html
    if len(html) > _TRAFILATURA_MAX_CHARACTERS:
        return _main(page)
    try:
        import trafilatura  # 0.3 s, and an extra
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'extractor "trafilatura" needs a package that is not installed; '
            "install it: pip install 'scrapy-dedup[trafilatura]'",
            name=error.name,
        ) from error
    return trafilatura.extract(html.replace("\0", ""), fast=True, favor_recall=True) or ""


def _templates(html: str) -> str:
    """The markup that scripts would unfold into the page."""
    tree = LexborHTMLParser(html)
    scripts = [script.text() for script in tree.css(_TEMPLATE_SCRIPTS)]
    return "\n".join(scripts + [fragment.html or "" for fragment in tree.template_fragments()])


_EXTRACTORS: dict[str, Callable[[Bounded], str]] = {
    "resiliparse": _main,
    "trafilatura": _trafilatura,
    "all": _all,
}
EXTRACTORS = tuple(_EXTRACTORS)
"""The names that `extract_text` knows."""
