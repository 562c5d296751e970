"""Whoever makes Markdown of a page: this project, and published packages by their best call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from benchmarks.sites.container import decoded
from dedup.fields.markdown import to_markdown
from dedup.fields.own_markup import own_markup
from dedup.html import bounded, decode, parse_page


class StoredPage(NamedTuple):
    """A page as it was crawled: its URL, its body, and the text that was stored."""

    url: str
    body: bytes
    text: str


Convert = Callable[[StoredPage], str]


def contenders() -> tuple[dict[str, Convert], list[str]]:
    """Those that are installed, by name; and which packages are missing."""
    found: dict[str, Convert] = {"ours": ours}
    missing = []
    for name, (module, make) in _PACKAGES.items():
        try:
            found |= make(import_module(module))
        except ModuleNotFoundError:
            missing.append(name)
    return found, missing


def ours(page: StoredPage) -> str:
    markup, base_url = _markup(page)
    return to_markdown(markup, base_url)


def _markup(page: StoredPage) -> tuple[str, str]:
    """The markup of a page's own text, and what its links are relative to."""
    html = bounded(decode(page.body).text)
    return own_markup(html, page.text), parse_page(html, page.url).base_url


def _trafilatura(package: Any) -> Mapping[str, Convert]:
    def convert(page: StoredPage) -> str:
        return (
            package.extract(
                page.body,
                url=page.url,
                output_format="markdown",
                include_links=True,
                include_formatting=True,
                favor_recall=True,
            )
            or ""
        )

    return {"trafilatura": convert}


def _crawl4ai(package: Any) -> Mapping[str, Convert]:
    filters = import_module("crawl4ai.content_filter_strategy")
    whole = package.DefaultMarkdownGenerator()
    fit = package.DefaultMarkdownGenerator(content_filter=filters.PruningContentFilter())

    def convert(page: StoredPage) -> str:
        html = decoded(page.body)
        return str(whole.generate_markdown(html, page.url, citations=False).raw_markdown)

    def convert_fit(page: StoredPage) -> str:
        html = decoded(page.body)
        return str(fit.generate_markdown(html, page.url, citations=False).fit_markdown)

    return {"crawl4ai": convert, "crawl4ai, fit": convert_fit}


def _html_to_markdown(package: Any) -> Mapping[str, Convert]:
    options = package.ConversionOptions(
        escape_asterisks=True,
        escape_underscores=True,
        escape_misc=True,
        br_in_tables=True,
        extract_metadata=False,
    )

    def convert(page: StoredPage) -> str:
        return str(package.convert(decoded(page.body), options).content)

    def convert_own(page: StoredPage) -> str:
        return str(package.convert(_markup(page)[0], options).content)

    return {"html-to-markdown": convert, "html-to-markdown, own text": convert_own}


def _markdownify(package: Any) -> Mapping[str, Convert]:
    def convert_own(page: StoredPage) -> str:
        return str(package.markdownify(_markup(page)[0], heading_style="atx", bs4_options="lxml"))

    return {"markdownify, own text": convert_own}


_PACKAGES: dict[str, tuple[str, Callable[[Any], Mapping[str, Convert]]]] = {
    "trafilatura": ("trafilatura", _trafilatura),
    "crawl4ai": ("crawl4ai.markdown_generation_strategy", _crawl4ai),
    "html-to-markdown": ("html_to_markdown", _html_to_markdown),
    "markdownify": ("markdownify", _markdownify),
}


def names() -> Iterator[str]:
    yield from _PACKAGES
