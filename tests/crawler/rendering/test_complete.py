"""When a page counts as complete: on a busy machine, nothing for a while does not say that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from dedup.scrapy.rendering.bounds import Bounds
from dedup.scrapy.rendering.record import RenderingError
from tests.crawler.rendered import Rendered, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

_SCRIPT = """
const busy = () => { const end = performance.now() + 1200; while (performance.now() < end); };
const ask = async () => {
  for (let n = 0; n < 20; n += 1) await (await fetch("/data")).text();
  document.body.append("what was asked for");
};
"""


@pytest.fixture(scope="module")
def patient() -> Iterator[Rendered]:
    pytest.importorskip("scrapy_playwright", reason="needs the extra render")
    made = Rendered(Bounds(seconds=120, idle_seconds=60))
    yield made
    made.close()


@pytest.mark.parametrize(
    "script",
    [
        # No request is under way for longer than the page has to be quiet, and then there is one.
        "busy(); setTimeout(ask)",
        "fetch('/data').then((answer) => answer.text()).then(() => { busy(); ask(); })",
        "const two = new MessageChannel(); two.port1.onmessage = () => { busy(); ask(); };"
        "two.port2.postMessage(0)",
    ],
    ids=["while_it_is_read", "after_an_answer", "in_a_task"],
)
def test_scripts_that_lack_time_are_waited_for(patient: Rendered, script: str) -> None:
    patient.web.routes = {"/app.js": ("text/javascript", _SCRIPT + script)}
    page = patient.render("<script type=module src=/app.js></script><p>Loading")
    assert "what was asked for" in page.text


def test_a_page_that_never_rests_is_read(rendered: Rendered) -> None:
    page = "<p>here<script>setInterval(() => fetch('/data'), 100)</script>"
    assert "here" in rendered.render(page).text
    page = "<p>here<script>const on = () => setTimeout(on); on()</script>"
    assert "here" in rendered.render(page).text


@pytest.mark.parametrize(
    "script", ["for (;;)", "setInterval(() => { for (let n = 0; n < 999; n++)"]
)
def test_a_page_that_changes_its_route_to_and_fro_ends_in_time(script: str) -> None:
    """A browser without limit tells of 5,000 changes a second, which hold up its driver."""
    end = "})" if "{" in script else ""
    change = "location.hash = location.hash === '#/a' ? '#/b' : '#/a'"
    rendered = Rendered(Bounds(seconds=8))
    try:
        rendered.render("<p>one")  # starts the browser
        began = time.monotonic()
        page = f"<p>here<script>setTimeout(() => {{ {script} {change} {end} }}, 50)</script>"
        with suppress(RenderingError):
            assert "here" in rendered.render(page, "http://site.example/#/a").text
        assert "two" in rendered.render("<p>two").text
        assert time.monotonic() - began < 8 + 20
    finally:
        rendered.close()


def test_a_view_that_a_timer_shows_is_waited_for_where_there_is_no_text() -> None:
    rendered = Rendered(Bounds(seconds=60))  # with what a page has by default to become idle
    try:
        late = "setTimeout(() => { document.body.append('the view that came late'); }, 1200)"
        assert "came late" in rendered.render(f"<p>Loading…<script>{late}</script>").text
        assert rendered.render("<p>Loading…<script>0</script>").status == 200
    finally:
        rendered.close()


@pytest.mark.parametrize(
    "body",
    [
        "a text that is there<script>",
        "<div></div><script>document.querySelector('div').attachShadow({mode: 'open'}).innerHTML"
        " = 'a text of it in a shadow';",
    ],
)
def test_where_there_is_a_text_no_timer_is_waited_for(patient: Rendered, body: str) -> None:
    late = "setTimeout(() => { document.body.append('late'); }, 30000)"
    found = patient.render(f"<p>{body}{late}</script>").text
    assert "a text" in found
    assert ">late" not in found
