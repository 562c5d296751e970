"""What a page declares for search engines and previews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dedup.fields.declared import Declared
from dedup.fields.json_ld import main_nodes, types
from dedup.html.page import Resolver

_PAGES = ("Page", "WebSite")


def description_of(declared: Declared) -> str | None:
    """The description of the page."""
    names = "description", "og:description", "twitter:description", "dc.description"
    return declared.first(*names) or None


def site_name_of(declared: Declared) -> str | None:
    """The name of the site."""
    found = declared.first("og:site_name", "application-name")
    if found:
        return found
    sites = (node.get("name") for node in declared.nodes if "WebSite" in types(node))
    return next((name for name in sites if isinstance(name, str) and name), None)


def image_of(declared: Declared, url: str) -> str | None:
    """The absolute URL of the picture that stands for the page."""
    resolve = Resolver(declared.base_url, "utf-8")
    return next(filter(None, map(resolve, _images(declared, url))), None)


def type_of(declared: Declared, url: str) -> str | None:
    """The type of the page's subject: schema.org's, or else OpenGraph's."""
    found = [
        each for node in main_nodes(declared.nodes, url, declared.title) for each in types(node)
    ]
    subject = [each for each in found if not each.endswith(_PAGES)]
    return next(iter(subject), None) or declared.first("og:type") or next(iter(found), None)


def _images(declared: Declared, url: str) -> Iterator[str]:
    names = "og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"
    yield from declared.every(*names)
    for node in main_nodes(declared.nodes, url, declared.title):
        yield from _addresses(node.get("image"))
    yield from declared.icons


def _addresses(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            each = each.get("url") or each.get("contentUrl")
        if isinstance(each, str) and each:
            yield each
