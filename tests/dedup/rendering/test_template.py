"""Pages of a template have alike sketches, whatever their content; others have not."""

from __future__ import annotations

import pytest

from dedup.html import bounded
from dedup.rendering.learner import MIN_RESEMBLANCE
from dedup.rendering.sketch import SKETCH_HASHES, Sketch, are_alike, from_bytes, to_bytes
from dedup.rendering.template import template_of

_SCRIPT = "<script src=/a.js></script>"


def article(n: int, body: str = "") -> str:
    paragraphs = "".join(f"<p>Paragraph {each}" for each in range(n % 7 + 1))
    return (
        f"<html><head><title>{n}</title>{_SCRIPT}</head><body class='post-{n} about'><header"
        f" id=top><nav class=menu><ul><li><a>a</a></ul></nav></header><main><article id='post-{n}'"
        f" class='entry entry-{n}'><h1>{n}</h1>{paragraphs}{body}</article></main></body></html>"
    )


LIST = (
    f"<html><head>{_SCRIPT}</head><body><div class=list><div class=row><span>a</span></div>"
    "<table><tr><td>1</table></div></body></html>"
)


def sketch(html: str) -> Sketch:
    return template_of(bounded(html)).sketch


def test_pages_of_a_template_have_equal_or_alike_sketches() -> None:
    assert sketch(article(1)) == sketch(article(9))
    more = article(2, "<figure><img><figcaption>f</figcaption></figure><ul><li><b>b</b></ul>")
    assert are_alike(sketch(article(1)), sketch(more), MIN_RESEMBLANCE)
    assert not are_alike(sketch(article(1)), sketch(LIST), MIN_RESEMBLANCE)


@pytest.mark.parametrize(
    ("html", "may_change"),
    [
        (article(1), True),
        ("<p>Text.", False),
        ("<body onload='fill()'><p>Text.", True),
        ("<p>Text.<iframe src=/a></iframe>", True),
        ("<p>The attribute onload= in a text.", False),
    ],
)
def test_only_what_runs_may_change_a_page(html: str, may_change: bool) -> None:
    assert template_of(bounded(html)).may_change == may_change


@pytest.mark.parametrize("html", ["", "<div>" * 5_000, "<p>a" * 50_000, "\ud800<p class='\ud800'>"])
def test_sketches_of_odd_pages_are_small(html: str) -> None:
    assert len(sketch(html)) <= SKETCH_HASHES
    assert are_alike(sketch(html), sketch(html), 1.0)
    assert from_bytes(to_bytes(sketch(html))) == sketch(html)
