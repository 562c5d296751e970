"""From the rows of a collection to documents."""

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dedup.collection.columns import Columns, Fields, NoTextError, fields_of
from dedup.collection.formats import format_of
from dedup.collection.reading import read_rows
from dedup.collection.rows import Broken, Given, Values, WebPage
from dedup.collection.sources import Source
from dedup.document import Document
from dedup.urls.parts import host_of

if TYPE_CHECKING:
    from dedup.sites.site import Site


class Read(NamedTuple):
    """A document of a collection, and the rest of its row.

    Attributes:
        id: as given, a number as a number; or else the URL; None: it has neither.
        others: the values of the columns that options name.
        present: which of the columns that the user has named the row has.
        names: of all its columns, where it lacks one of these.
    """

    document: Document
    id: Any
    others: tuple[Any, ...] = ()
    present: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()


class Held(NamedTuple):
    """A document that holds a passage of a row of an evaluation set.

    Attributes:
        known: the number of that row.
        known_id, known_url: of that row.
    """

    read: Read
    known: int
    known_id: Any
    known_url: str | None


class NoText(NamedTuple):
    """A row that is sound, but has no text; see `Read`."""

    reason: str
    id: Any
    present: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: NoTextError) -> "NoText":
        """What is known of a row from what was raised."""
        fields = error.fields
        return cls(str(error), name_of(fields), fields.present, fields.names)


def read_documents(
    path: Path, sites: "Mapping[str, Site] | None" = None, columns: Columns | None = None
) -> Iterator[tuple[Values, Document] | Broken]:
    """Read the documents of a file one after the other, each with its row.

    Args:
        path: the format by the ending, and JSON Lines for any other; see `read_rows`.
        sites: what `learn_sites` has learned of each host; of pages of other hosts, and of those
            without a URL, the text is what the page itself declares, or what rules find.
        columns: where text, id and the like stand.

    Raises:
        OSError: the file cannot be read, is damaged, or cut off.
        ValueError: a table lacks columns.
        ModuleNotFoundError: what reads its format is not installed.
    """
    columns = columns or Columns()
    source = Source(path, str(path), format_of(path), path.stat().st_size)
    for number, row in enumerate(read_rows(source, columns), start=1):
        if isinstance(row, Broken):
            yield row
            continue
        try:
            found = read_given(row.given(), columns, sites or {}, number)
        except (ValueError, RecursionError) as error:
            yield Broken(row.place, str(error), row.source_text())
        else:
            yield row.values(found.document), found.document


def read_given(given: Given, columns: Columns, sites: "Mapping[str, Site]", number: int) -> Read:
    """Read a document.

    Raises:
        NoTextError: the row has no text.
        ValueError: it is no row.
        RecursionError: it is JSON that is nested too deeply.
    """
    if isinstance(given, WebPage):
        return _read_page(given, columns, sites)
    fields = fields_of(object_of(given), columns)
    name, url, title, text, _, others, present, names, key = fields
    name = url if name is None else name
    own = name if isinstance(name, str) else _as_text(number if name is None else name)
    document = (
        page_document(own, fields, sites)
        if text is None
        else Document.of_fields(id=own, text=text, url=url, title=title, key=key)
    )
    return Read(document, name, others, present, names)


def name_of(fields: Fields) -> Any:
    """A row's id, or else its URL; None: it has neither."""
    return fields.url if fields.id is None else fields.id


def _as_text(name: Any) -> str:
    return str(name) if type(name) is int else json.dumps(name, default=str)


def object_of(given: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    """A row by its columns.

    Raises:
        ValueError: it is a line, and no JSON object that Python can read.
    """
    if not isinstance(given, bytes):
        return given
    text = given.decode("utf-8", "surrogateescape")
    try:
        row, end = _scanned(text, 0)
    except (StopIteration, ValueError, RecursionError):
        return _loaded(given, text)
    is_whole = end == len(text) or not text[end:].strip(" \t\r\n")
    # What `json.loads` does besides takes as long as a short row.
    return row if is_whole and isinstance(row, dict) else _loaded(given, text)


_decoder: Any = json.JSONDecoder()
_scanned: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def _loaded(line: bytes, text: str) -> dict[str, Any]:
    """The object that a line is, with a space before it; or why it is none."""
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_why_no_json(line, error)) from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError as error:
        raise ValueError("a number in it has too many digits") from error
    if not isinstance(row, dict):
        raise ValueError(f"expected a JSON object, found {type(row).__name__}")
    return row


def _why_no_json(line: bytes, error: json.JSONDecodeError) -> str:
    if line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "it is UTF-16; --encoding utf-16 reads it"
    place = min(error.pos, len(error.doc.rstrip())) + 1
    return f"invalid JSON: {error.msg}, at character {place:,}"


def fields_of_page(page: WebPage) -> Fields:
    """What a page of a web archive says: its markup, or its text where it is plain."""
    from dedup.html import decode  # for collections of texts, no parser of HTML is loaded

    text = decode(page.body, page.content_type).text
    said, markup = (text, None) if page.is_plain else (None, text)
    return Fields(page.id, page.url, "", said, markup)


def _read_page(page: WebPage, columns: Columns, sites: "Mapping[str, Site]") -> Read:
    fields = fields_of_page(page)
    document = (
        Document(id=page.id, text=fields.text, url=page.url, body=page.body)
        if fields.text is not None
        else page_document(page.id, fields, sites, page.body)
    )
    return Read(document, page.id, (None,) * len(columns.others))


def page_document(
    name: str, fields: Fields, sites: "Mapping[str, Site]", body: bytes | None = None
) -> Document:
    """The document of a page of markup."""
    from dedup.html import bounded, parse_page
    from dedup.html.page_text import page_text
    from dedup.sites.site import Site

    html = bounded(fields.html or "")
    title = fields.title or parse_page(html, fields.url or "").title
    url = fields.url or ""
    said = page_text(html, title, site=sites.get(host_of(url)) or Site(), url=url)
    return Document(
        id=name,
        text=said.text,
        url=fields.url,
        title=title,
        body=body,
        heading=said.heading,
        own_title=said.title,
        source=said.source,
        key=fields.key,
        rest=said.rest,
    )
