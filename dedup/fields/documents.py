"""The fields of documents that are not HTML: what they declare, as they declare it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from html import escape

from dedup.documents.document import About, DocumentError
from dedup.documents.formats import FORMATS, format_of
from dedup.fields.dates import Dates
from dedup.fields.declared import Declared
from dedup.fields.moments import Moment, moment
from dedup.fields.names import cut
from dedup.fields.people import is_name

_AUTHOR, _CREATED, _MODIFIED, _PAGES = "author", "created", "modified", "pages"

_PDF_DATE = re.compile(
    r"(?:D:)?(?P<day>\d{8})(?:(?P<time>\d{6})(?:(?P<utc>Z)|(?P<zone>[+-]\d\d)'?(?P<minutes>\d\d)?)?)?"
)


def declared_by_document(body: bytes, url: str) -> Declared:
    """What a document declares; nothing, if that cannot be read.

    The document was read before, within bounds.

    Raises:
        ModuleNotFoundError: an extra is missing.
    """
    about = About()
    with suppress(DocumentError):
        about = FORMATS[format_of(body, is_said_pdf=True)].about(body)
    return Declared(base_url=url, language=about.language, title=about.title, meta=[*_meta(about)])


def _meta(about: About) -> Iterator[tuple[str, str]]:
    n_pages = "" if about.n_pages is None else str(about.n_pages)
    values = cut(about.author), cut(about.created), cut(about.modified), n_pages
    for name, value in zip((_AUTHOR, _CREATED, _MODIFIED, _PAGES), values, strict=True):
        if value:
            yield name, value


def document_author(declared: Declared) -> str | None:
    """The author; None: it is none, or the default of a program."""
    found = declared.first(_AUTHOR)
    return found if found and is_name(found) else None


def document_pages(declared: Declared) -> int | None:
    """The number of pages; None: it is not known."""
    found = declared.first(_PAGES)
    return int(found) if found.isdecimal() else None


def document_dates(declared: Declared, fetched: date | None) -> Dates:
    """When a document was created, and when it was modified after that.

    Args:
        declared: what it declares.
        fetched: the day on which it was fetched; later dates do not count.
    """
    latest = None if fetched is None else fetched + timedelta(days=1)
    created, modified = (
        moment(_iso(declared.first(name)), latest=latest) for name in (_CREATED, _MODIFIED)
    )
    if modified is not None and created is not None and not created.is_before(modified):
        modified = None
    return Dates(_text(created), _text(modified))


def _text(found: Moment | None) -> str | None:
    return None if found is None else str(found)


def _iso(text: str) -> str:
    """A date as `moment` reads it.

    >>> _iso("D:20190719101025-04'00'")
    '2019-07-19T10:10:25-04:00'
    """
    found = _PDF_DATE.match(text)
    if found is None:
        return text
    day, time = found["day"], found["time"]
    iso = f"{day[:4]}-{day[4:6]}-{day[6:]}"
    if time:
        iso += f"T{time[:2]}:{time[2:4]}:{time[4:]}"
    if found["utc"]:
        iso += "Z"
    elif found["zone"]:
        iso += f"{found['zone']}:{found['minutes'] or '00'}"
    return iso


def document_markup(text: str, heading: str) -> str:
    """The markup of a document's text: its heading, and its lines as paragraphs."""
    lines = text.splitlines()
    tags = ["h1" if number == 0 and line == heading else "p" for number, line in enumerate(lines)]
    return "".join(
        f"<{tag}>{escape(line, quote=False)}</{tag}>" for tag, line in zip(tags, lines, strict=True)
    )
