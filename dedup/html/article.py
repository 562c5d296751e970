"""Finds the article of a page that declares one, without the comments and teasers around it.

Templates of news sites and blogs often put more text beside an article than the article has:
readers' comments, the beginnings of other articles, requests to subscribe. With that text, copies
of one article on two sites are not near duplicates. Pages that declare no article (documentation,
lists, forums) are left unchanged, because paragraphs are only a small part of their text.
"""

import re
from collections import Counter

from selectolax.lexbor import LexborNode

from dedup.html.bounds import Bounded
from dedup.html.shown import around, shown

_CALLED = "article|(?<!ref)(?<!biblio)entry|post-?(?:content|body|text)|(?<!hi)story"
"""But not `history`, nor DocBook's `refentry`, which is a whole page of a manual."""

_DECLARATION = re.compile(rf"(?i){_CALLED}")
"""A match in the names of the article's element, or of one around it."""

_WORDS_CALLED = (b"article", b"entry", b"post", b"story")
"""Every match of `_CALLED` contains one of them."""

_TAG_CALLED = re.compile(
    rf"""<article\b|\b(?:class|id|itemprop)\s*=\s*(?:"[^"]*?(?:{_CALLED})"""
    rf"""|'[^']*?(?:{_CALLED})|[^\s"'>]*?(?:{_CALLED}))""".encode()
)
"""A match within a lower-case tag whose element has such a name."""

_BESIDE = re.compile(
    r"""(?ix) (?:^|[\s_-]) (?:
        comments? | respond | disqus | replies | related\w* | recirc\w* | recommend\w*
        | promo\w* | teasers? | sponsored? | latest\w* | popular | trending | breaking\w*
        | most-?(?:read|viewed) | more-?(?:stories|news|from|on|posts)
        | newsletter | subscri\w* | share | social\w* | bio | author-?(?:box|info)
        | footer | cookies? | privacy | consent
        | (?<![\w-])(?:sidebar|widget)(?![\w-])  # alone: in compounds it is often the page's grid
        ) (?:$|[\s_-])"""
)
"""Class names and ids that templates give to elements beside an article."""

_NOTE = re.compile(
    r"""(?ix) (?:^|[\s_-]) (?:
        notes? | note-?box | tips? | hints? | warnings? | caution | danger | important
        | info(?:rmation)? | callouts? | admonition\w* | remarks? | examples? | definitions?
        | (?:pull-?|block-?)?quotes? | footnotes? | sidenotes? | marginnotes? | doc-\w+
        ) (?:$|[\s_-])"""
)
"""Class names of an `<aside>` that belongs to an article."""

_TAGS_BESIDE = frozenset(["aside", "dialog", "footer", "form", "header", "nav"])
_WHOLE_PAGE = frozenset(["article", "body", "html", "main"])
_PARAGRAPHS = "p, pre, blockquote, div:has(> br)"
_PARAGRAPH_CHARACTERS = 40
_MAX_AROUND = 200
"""The maximum of elements around a paragraph; deeper ones are ignored, as they take seconds."""

_ARTICLE_CHARACTERS = 500
_SHARE_OF_PARAGRAPHS = 0.8
_SHARE_OF_TEXT = 0.2


def find_article(page: Bounded, *, text_length: int) -> LexborNode | None:
    """Return the page's article; None: the page does not declare one.

    It looks for the smallest element with four fifths of the text in paragraphs, not counting those
    in comments, menus and similar elements. This element, one around it or one in it must be called
    an article, entry, post or story. The article is the outermost such element around it, so that
    sections with lists and tables stay with the paragraphs.

    Args:
        page: a page of bounded depth.
        text_length: the length of the page's whole main text. If less than a fifth of it is in
            paragraphs, the page is not about the article.
    """
    if not _may_declare(page.html):
        return None
    body = page.tree.body
    if body is None:
        return None
    are_beside: dict[int, bool] = {}
    sizes: Counter[int] = Counter()
    found: dict[int, tuple[int, LexborNode]] = {}
    total = 0
    for parent, size in _paragraphs_by_parent(body):
        elements = _elements_around(parent, are_beside)
        total += size if elements else 0
        for depth, element in enumerate(reversed(elements)):
            sizes[element.mem_id] += size
            found[element.mem_id] = depth, element
    if total < max(_ARTICLE_CHARACTERS, _SHARE_OF_TEXT * text_length):
        return None
    large = [key for key, size in sizes.items() if size >= _SHARE_OF_PARAGRAPHS * total]
    return _declared(found[max(large, key=lambda key: found[key][0])][1])


def _may_declare(html: str) -> bool:
    """May an element be called an article? Most pages of documentation need no closer look.

    The words are searched for first, as bytes, and then their tags: searching for the tags alone
    takes tens of times as long.
    """
    markup = html.encode().lower()
    return any(_is_called(markup, word) for word in _WORDS_CALLED)


def _is_called(markup: bytes, word: bytes) -> bool:
    start = before = 0
    place = markup.find(word)
    while place >= 0:
        start = max(start, markup.rfind(b"<", before, place))
        end = markup.find(b">", start)
        end = len(markup) if end < 0 else end
        if end > place and _TAG_CALLED.search(markup, start, end):
            return True
        before = place
        place = markup.find(word, max(place + 1, end))
    return False


def _paragraphs_by_parent(body: LexborNode) -> list[tuple[LexborNode, int]]:
    """The parents of paragraphs, and the number of their characters outside links."""
    parents: dict[int, tuple[LexborNode, int]] = {}
    for paragraph in body.css(_PARAGRAPHS):
        length = len(paragraph.text().strip())
        parent = paragraph.parent
        if parent is None or length < _PARAGRAPH_CHARACTERS:
            continue
        in_links = sum(len(link.text()) for link in paragraph.css("a"))
        if in_links > length / 2:
            continue
        _, before = parents.get(parent.mem_id, (parent, 0))
        parents[parent.mem_id] = parent, before + length - in_links
    return list(parents.values())


def _elements_around(element: LexborNode | None, are_beside: dict[int, bool]) -> list[LexborNode]:
    """The element and those around it, with the body; empty if one of them is beside an article.

    `are_beside` remembers the results: paragraphs share most of the elements around them.
    """
    found: list[LexborNode] = []
    while element is not None and element.tag != "html":
        key = element.mem_id
        if key not in are_beside:
            are_beside[key] = _is_beside(element)
        if are_beside[key] or len(found) == _MAX_AROUND:
            return []
        found.append(element)
        element = element.parent
    return found


def _is_beside(element: LexborNode) -> bool:
    if element.tag in _TAGS_BESIDE:
        return True
    return element.tag not in _WHOLE_PAGE and bool(_BESIDE.search(_names(element)))


def _declared(element: LexborNode) -> LexborNode | None:
    """The outermost element around `element` that is called an article; None if nothing is."""
    called = [
        each
        for each in around(element)
        if each.tag == "article" or _DECLARATION.search(_names(each))
    ]
    if called:
        return called[-1]
    has_one = element.css_first("article, [itemprop=articleBody]") is not None
    return element if has_one else None


def without_what_is_beside(article: LexborNode) -> str:
    """The article's markup without elements named as beside it; the tree is not changed."""
    if any(map(_is_beside_within, _elements_in(article))):
        article = article.clone()  # the tree is others' too
        for element in _elements_in(article):
            if _is_beside_within(element):
                element.decompose()
    return shown(article)


def _is_beside_within(element: LexborNode) -> bool:
    """The same within an article, where an `<aside>` without a class, or named so, is a note."""
    if element.tag != "aside":
        return _is_beside(element)
    if not element.attributes.get("class"):
        return False
    names = f"{_names(element)} {element.attributes.get('role') or ''}"
    return _BESIDE.search(names) is not None or _NOTE.search(names) is None


def _elements_in(article: LexborNode) -> list[LexborNode]:
    """The elements in the article whose tag or names may mark them as beside it."""
    found = article.css("aside, dialog, footer, form, header, nav, [class], [id]")
    return [element for element in found if element.mem_id != article.mem_id]


def _names(element: LexborNode) -> str:
    attributes = element.attributes
    return " ".join(attributes.get(name) or "" for name in ("class", "id", "itemprop"))
