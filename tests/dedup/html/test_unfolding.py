"""What scripts unfold is text; their data is not."""

import pytest

from dedup.html import bounded
from dedup.html.unfolding import page_outline

DATA = "{'title': 'A bamboo case', 'description': 'Fits many phones'}"


@pytest.mark.parametrize(
    ("attributes", "is_text"),
    [
        ("type='text/x-handlebars-template'", True),
        ("id=a type = text/html", True),
        ("type='application/json' id='product-template'", False),
        ("data-type='template'", False),
        ("", False),
    ],
)
def test_script_is_text_if_its_type_is_a_template(attributes: str, is_text: bool) -> None:
    found = page_outline(bounded(f"<script {attributes}>{DATA}</script><p>x</p>"))
    assert found is not None
    assert (DATA in [line.text for line in found.lines]) == is_text


@pytest.mark.parametrize(
    ("href", "leaves"),
    [
        ("/x", False),
        ("https://www.site.example/x", False),
        ("https://sister.site.example/x", False),
        ("http://mirrored.example/x", False),
        ("mailto:a@other.example", False),
        ("HTTPS://other.example:8080/x", True),
        (" //other.example/x", True),
        ("http://192.0.2.1/", True),
        ("http://[", False),
    ],
)
def test_links_that_leave_the_site_are_told(href: str, leaves: bool) -> None:
    page = bounded(f"<link rel=canonical href=http://mirrored.example/><a href='{href}'>x</a>")
    for url in ("http://site.example/", ""):
        found = page_outline(page, url)
        assert found is not None
        assert bool(found.lines[0].n_outward) == (leaves and bool(url))
