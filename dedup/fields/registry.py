"""The table of the fields of a page: what exports, items and feeds may have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from dedup.collection.writing.kinds import TIMESTAMP, Kind
from dedup.extras import require_extra
from dedup.fields.describing import description_of, image_of, site_name_of, type_of
from dedup.fields.headings import headings
from dedup.fields.language import language_of
from dedup.fields.links import links
from dedup.fields.markdown import to_markdown
from dedup.fields.page_source import PageSource
from dedup.fields.tables import tables
from dedup.preferences.declarations import Declaration
from dedup.times import iso_time


class Field(NamedTuple):
    """A field of a page.

    Attributes:
        kind: its type in Parquet.
        of: its value; None: it is not known.
        reads: what it is computed from: "row" (what is stored in columns), "text", "markup" (the
            body, or what was kept in its place), "preferences", "rendering", or "visits".
        module: that it needs of an optional package; "": none.
        extra: the extra with that package.
    """

    kind: Kind
    of: Callable[[PageSource], Any]
    reads: str = "row"
    module: str = ""
    extra: str = ""


def _stored(name: str, kind: Kind = "string") -> Field:
    return Field(kind, lambda source: getattr(source.page, name))


def _of_markup(read: Callable[[str, PageSource], Any]) -> Callable[[PageSource], Any]:
    """A field that is read from the markup of the page's own text."""
    return lambda source: None if source.markup is None else read(source.markup, source)


def _of_rendering(name: str, kind: Kind) -> Field:
    return Field(kind, lambda source: getattr(source.how_read, name, None), "rendering")


_HEADING: Kind = {"level": "int32", "text": "string", "anchor": "string"}
_PREFERENCE: Kind = {"source": "string", "name": "string", "value": "string"}
_LINK: Kind = {"url": "string", "text": "string"}

FIELDS: Mapping[str, Field] = {
    "id": Field("string", lambda source: source.id),
    "url": _stored("url"),
    "title": _stored("title"),
    "language": Field(
        "string", lambda source: language_of(source.text, source.page.language), "text"
    ),
    "declared_language": _stored("language"),
    "text": Field("string", lambda source: source.text, "text"),
    "canonical_url": _stored("canonical_url"),
    "status": _stored("status", "int32"),
    "content_type": _stored("content_type"),
    "fetched_at": Field(TIMESTAMP, lambda source: iso_time(source.page.fetched_at)),
    "depth": _stored("depth", "int32"),
    "needs_rendering": _stored("needs_rendering", "bool"),
    "rendered": Field(
        "bool",
        lambda source: source.how_read is not None and source.how_read.is_rendered,
        "rendering",
    ),
    "rendered_why": _of_rendering("why", "string"),
    "rendering_seconds": _of_rendering("seconds", "float64"),
    "etag": _stored("etag"),
    "last_modified": _stored("last_modified"),
    "gone_at": Field(
        TIMESTAMP, lambda source: source.gone_at and iso_time(source.gone_at), "visits"
    ),
    "moved_to": Field("string", lambda source: source.moved_to, "visits"),
    "published": Field("string", lambda source: source.dates.published, "markup"),
    "modified": Field("string", lambda source: source.dates.modified, "markup"),
    "author": Field("string", lambda source: source.author, "markup"),
    "pages": Field("int32", lambda source: source.n_pages, "markup"),
    "description": Field("string", lambda source: description_of(source.declared), "markup"),
    "site_name": Field("string", lambda source: site_name_of(source.declared), "markup"),
    "image": Field("string", lambda source: image_of(source.declared, source.url), "markup"),
    "type": Field("string", lambda source: type_of(source.declared, source.url), "markup"),
    "markdown": Field(
        "string",
        _of_markup(
            lambda markup, source: to_markdown(markup, source.base_url, encoding=source.encoding)
        ),
        "markup",
    ),
    "headings": Field([_HEADING], _of_markup(lambda markup, _: headings(markup)), "markup"),
    "links": Field(
        [_LINK],
        _of_markup(lambda markup, source: links(markup, source.base_url, encoding=source.encoding)),
        "markup",
    ),
    "tables": Field([[["string"]]], _of_markup(lambda markup, _: tables(markup)), "markup"),
    "preferences": Field(
        [_PREFERENCE], lambda source: preference_rows(source.preferences), "preferences"
    ),
}
"""The fields by their names; another one is a row here."""


def preference_rows(declared: Sequence[Declaration]) -> list[dict[str, str]] | None:
    """The value of the field `preferences`."""
    return [each._asdict() for each in declared] or None


def checked(names: Iterable[str], *, of: str) -> tuple[str, ...]:
    """The names of fields, each once, in their order.

    Args:
        names: as they were given.
        of: the option or setting that names them.

    Raises:
        ValueError: a name is of no field.
        ModuleNotFoundError: a field needs a package that is not installed.
    """
    found = tuple(dict.fromkeys(name.strip() for name in names))
    for name in found:
        if name not in FIELDS:
            near = get_close_matches(name, FIELDS, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{of} must be of {', '.join(FIELDS)}; got {name!r}{meant}")
        field = FIELDS[name]
        if field.module:
            require_extra(field.module, extra=field.extra, purpose=f"the field {name}")
    return found


def reads(names: Iterable[str], what: str) -> bool:
    """Do any of these fields read what is named `what`, see `Field`?"""
    return any(FIELDS[name].reads == what for name in names)


def values(source: PageSource, names: Sequence[str]) -> dict[str, Any]:
    """The values of some fields, in their order."""
    return {name: FIELDS[name].of(source) for name in names}
