"""What a page says of where its text is from: its date, its canonical link, and its sources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dedup.fields.links import links
from dedup.fields.page_source import PageSource
from dedup.store.records import Claims
from dedup.urls.parts import site_of

_MAX_LINES = 20
_MAX_LINE_CHARACTERS = 300
_MAX_SOURCES = 10
_MAX_URL_CHARACTERS = 2_000
_CUT_AT = 1_000
"""Characters of a meta element that are kept: a longer address may lack its end."""

_NAMED = re.compile(
    r"""[\W_]{0,10}(?:
        (?:(?:original|article|story|text)\s)?source\s?[:：] | (?:quelle|fuente|fonte)\s?[:：]
      | (?:文章|本文|信息|稿件)?(?:来源|來源|出处|出處)(?:于|於)?\s?[:：]?
      | (?:本文)?(?:转载|轉載|转自|轉自)(?:自|于|於)?\s?[:：]?
      | 原文(?:链接|鏈接|連結|地址|出处)\s?[:：]? | (?:引用元|出典)\s?[:：]
      | (?:(?:this|the)\s(?:article|post|story|text)\s)?(?:was\s)?
        (?:originally|first)\s(?:published|appeared|posted)\b
      | (?:re-?posted|re-?published|syndicated)\sfrom\b | via\s?[:：] | via\b(?=[^.]{0,60}$)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a line begins that names a source."""

_ADDRESS = re.compile(r"https?://[^\s<>\"'（）()，。、；]+")


def claims_of(source: PageSource) -> Claims:
    """What a page says; of sources, those on other hosts."""
    published = source.dates.published
    canonical = source.page.canonical_url or _own_url(source)
    return Claims(published, canonical, tuple(_sources(source)))


def _own_url(source: PageSource) -> str | None:
    """The canonical URL of its Open Graph: copies of whole pages often keep it.

    Source: https://ogp.me, basic metadata.
    """
    url = source.declared.first("og:url").strip()
    return url if _ADDRESS.fullmatch(url) and len(url) < _CUT_AT else None


def _sources(source: PageSource) -> list[str]:
    lines = _source_lines(source.text)
    if not lines:
        return []
    text = "\n".join(lines)
    markup = None if source.is_document else source.with_text(text).markup
    found = [] if markup is None else links(markup, source.base_url, encoding=source.encoding)
    urls = [each["url"] for each in found] + _ADDRESS.findall(text)
    own = site_of(source.url)
    others = (url for url in urls if len(url) <= _MAX_URL_CHARACTERS and site_of(url) != own)
    return list(dict.fromkeys(others))[:_MAX_SOURCES]


def _source_lines(text: str) -> list[str]:
    """The lines of a text that name a source, each with the next one if it names none itself."""
    return [line for line, _ in zip(_each_source_line(text), range(_MAX_LINES), strict=False)]


def _each_source_line(text: str) -> Iterator[str]:
    is_next = False
    for line in text.splitlines():
        if not line.strip() or len(line) > _MAX_LINE_CHARACTERS:
            is_next = False
            continue
        named = _NAMED.match(line)
        if named or is_next:
            yield line
        is_next = named is not None and not line[named.end() :].strip()
