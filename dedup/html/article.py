"""The article of a page that declares one, without the comments and teasers around it.

Templates of news sites and blogs put more text beside an article than many an article has: readers'
comments, the beginnings of other articles, pleas to subscribe. With them, two sites' copies of one
article are no near duplicates. Pages that declare no article (documentation, lists, forums) are
left alone: what looks like paragraphs there is a small part of what they say.
"""

import re
from collections import Counter

from selectolax.lexbor import LexborNode

from dedup.html.bounds import Bounded
from dedup.html.shown import around, shown

_CALLED = "article|(?<!ref)(?<!biblio)entry|post-?(?:content|body|text)|(?<!hi)story"
"""But not `history`, and not DocBook's `refentry`, which is a page of a manual as a whole."""

_DECLARATION = re.compile(rf"(?i){_CALLED}")
"""In the names of the article's element, or of one around it."""

_WORDS_CALLED = (b"article", b"entry", b"post", b"story")
"""One of them is in whatever matches `_CALLED`."""

_TAG_CALLED = re.compile(
    rf"""<article\b|\b(?:class|id|itemprop)\s*=\s*(?:"[^"]*?(?:{_CALLED})"""
    rf"""|'[^']*?(?:{_CALLED})|[^\s"'>]*?(?:{_CALLED}))""".encode()
)
"""In a tag, in lower case, whose element is called so."""

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
"""What templates call the elements beside an article, in class names and ids."""

_NOTE = re.compile(
    r"""(?ix) (?:^|[\s_-]) (?:
        notes? | note-?box | tips? | hints? | warnings? | caution | danger | important
        | info(?:rmation)? | callouts? | admonition\w* | remarks? | examples? | definitions?
        | (?:pull-?|block-?)?quotes? | footnotes? | sidenotes? | marginnotes? | doc-\w+
        ) (?:$|[\s_-])"""
)
"""What an `<aside>` is called that belongs to an article."""

_TAGS_BESIDE = frozenset(["aside", "dialog", "footer", "form", "header", "nav"])
_WHOLE_PAGE = frozenset(["article", "body", "html", "main"])
_PARAGRAPHS = "p, pre, blockquote, div:has(> br)"
_PARAGRAPH_CHARACTERS = 40
_MAX_AROUND = 200
"""Elements around a paragraph. What is nested deeper is no article, and would take seconds."""

_ARTICLE_CHARACTERS = 500
_SHARE_OF_PARAGRAPHS = 0.8
_SHARE_OF_TEXT = 0.2


def find_article(page: Bounded, *, text_length: int) -> LexborNode | None:
    """Return the page's article, or None where nothing tells which it is.

    Where the article is, the smallest element tells that has four fifths of the text in paragraphs,
    those in comments, menus and the like left out. It, an element around it or one in it must be
    called an article, entry, post or story; the article is the outermost of those around it, so
    that sections of lists and tables stay with the paragraphs.

    Args:
        page: of bounded depth.
        text_length: characters of main text that the page has as a whole. If less than a fifth of
            that is in paragraphs, the article is not what the page is about.
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
    """Is an element called an article? Most pages of documentation need no closer look.

    Words are looked for first, as bytes, and then their tags: a search for the tags alone takes
    tens of times as long.
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
    """The elements that hold paragraphs, and how many characters that are not of links."""
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
    """The element and those around it, the body too; none if one of them is beside an article.

    `are_beside` remembers of which elements that is known: paragraphs have most around them in
    common.
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
    """The article's markup without what is beside it by its name; its tree stays as it is."""
    if any(map(_is_beside_within, _elements_in(article))):
        article = article.clone()  # the tree is others' too
        for element in _elements_in(article):
            if _is_beside_within(element):
                element.decompose()
    return shown(article)


def _is_beside_within(element: LexborNode) -> bool:
    """The same within an article, where an `<aside>` without a class, or called so, is a note."""
    if element.tag != "aside":
        return _is_beside(element)
    if not element.attributes.get("class"):
        return False
    names = f"{_names(element)} {element.attributes.get('role') or ''}"
    return _BESIDE.search(names) is not None or _NOTE.search(names) is None


def _elements_in(article: LexborNode) -> list[LexborNode]:
    """The elements in the article that may be beside it by tag or name, not the article itself."""
    found = article.css("aside, dialog, footer, form, header, nav, [class], [id]")
    return [element for element in found if element.mem_id != article.mem_id]


def _names(element: LexborNode) -> str:
    attributes = element.attributes
    return " ".join(attributes.get(name) or "" for name in ("class", "id", "itemprop"))
