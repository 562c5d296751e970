"""The fields of a page stand once: what a store keeps and what is exported follows from them."""

import re
from dataclasses import fields
from pathlib import Path

from dedup.scrapy.items import PageItem
from dedup.store import Page, open_store
from dedup.store.export_columns import EXPORTED_FIELDS, STORED_FIELDS
from dedup.store.records import PAGE_FIELDS, storable_fields
from dedup.store.sqlite.schema import SCHEMA


def columns(table: str) -> set[str]:
    found = re.search(rf"CREATE TABLE {table} \((.*?)\n\)", SCHEMA, re.DOTALL)
    assert found is not None
    return set(re.findall(r"^    ([a-z_]+) [A-Z]", found[1], re.MULTILINE))


def test_every_field_of_a_page_has_a_column() -> None:
    assert columns("pages") == {*PAGE_FIELDS, "number", "name", "host", "text", "body", "rest"}
    of_site = {"own_title", "site_version"}  # not known while a page waits
    waiting = {*PAGE_FIELDS, "place", "host", "text", "body", "outline"} - of_site
    assert columns("waiting") == waiting


def test_exported_fields_are_those_of_pages_and_of_visits() -> None:
    assert {*EXPORTED_FIELDS} - {*STORED_FIELDS} == {"gone_at", "moved_to"}
    assert {*STORED_FIELDS} <= {*PAGE_FIELDS, "id", "text"}


def test_feeds_have_the_columns_of_exports() -> None:
    from settings.base import FEED_EXPORT_FIELDS

    in_order = [name for name in EXPORTED_FIELDS if name in FEED_EXPORT_FIELDS]
    assert in_order == FEED_EXPORT_FIELDS


def test_items_have_fields_that_a_store_keeps() -> None:
    names = {field.name for field in fields(PageItem)}
    assert names <= {*PAGE_FIELDS, "id", "text", "body"}
    assert names >= {*STORED_FIELDS}


def test_no_field_of_a_page_is_lost(tmp_path: Path) -> None:
    page = Page(
        id="a",
        text="A text.",
        body=b"A body.",
        url="http://example.com/",
        title="A title | A site",
        heading="A heading",
        own_title="A title",
        source="box",
        language="en",
        canonical_url="http://example.com/a",
        status=200,
        content_type="text/html",
        encoding="utf-8",
        fetched_at=12.5,
        size_bytes=7,
        depth=3,
        etag='"v1"',
        last_modified="Sat, 21 Nov 2026 10:00:00 GMT",
        site_version=1,
    )
    default = Page(id="", text="")
    unset = [name for name in PAGE_FIELDS if getattr(page, name) == getattr(default, name)]
    assert not unset
    with open_store(tmp_path) as store:
        found = store.page(store.add(page, {}))
    assert storable_fields(found) == storable_fields(page)
    assert (found.id, found.text, found.body) == (page.id, page.text, page.body)
