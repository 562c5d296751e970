"""From what stands in a collection to documents."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from dedup.collection.reading import Broken, Item, Row, read_items
from dedup.document import Document
from dedup.html import bounded, parse_page
from dedup.html.page_text import page_text
from dedup.templates.site import Site
from dedup.urls.parts import host_of


def read_documents(
    path: Path, sites: Mapping[str, Site] | None = None
) -> Iterator[tuple[Row, Document] | Broken]:
    """Read the documents of a file one after the other, each with its row.

    Args:
        path: see `dedup.collection.reading.read_items`.
        sites: what `learn_sites` has learned of each host; of pages of other hosts, and of those
            without a URL, the text is what the page itself declares, or what rules find.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ModuleNotFoundError: what reads its format is not installed.
    """
    for item in read_items(path):
        yield item if isinstance(item, Broken) else _read(item, sites or {})


def _read(item: Item, sites: Mapping[str, Site]) -> tuple[Row, Document]:
    if item.html is None:
        document = Document(
            id=item.id, text=item.text or "", url=item.url, title=item.title, body=item.body
        )
        return item.row, document
    html = bounded(item.html)
    title = item.title or parse_page(html, item.url or "").title
    said = page_text(html, title, site=sites.get(host_of(item.url or "")))
    document = Document(
        id=item.id,
        text=said.text,
        url=item.url,
        title=title,
        body=item.body,
        heading=said.heading,
        own_title=said.title,
        source=said.source,
    )
    if item.body is None:
        return item.row, document
    return {**item.row, "title": title, "text": said.text}, document
