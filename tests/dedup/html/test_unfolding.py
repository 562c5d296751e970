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
