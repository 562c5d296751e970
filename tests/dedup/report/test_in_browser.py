"""The report in Chromium: it works, asks nobody for anything, and runs nothing but itself."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dedup.report.page import write_report

pytestmark = pytest.mark.slow

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

_ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=_ARGUMENTS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(job: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_report(job, tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The report, opened. Any complaint in the console and any request but its own is a failure."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    page.close()
    assert not complaints
    assert requests == [address]


def test_search_opens_a_pair_and_marks_the_difference(page):
    page.keyboard.press("/")
    page.keyboard.type("site.example/letters/")
    assert page.inner_text("#found").startswith("1 page with 1 duplicate.")
    page.click("#list button")
    assert page.inner_text("#pair del") == "Letter"
    assert page.inner_text("#pair ins") == "Parcel"
    links = page.locator("#pair .side a").all_inner_texts()
    assert links == ["https://site.example/letters", "https://site.example/letters/"]
    assert "Resemblance 0.9" in page.inner_text("#pair .facts")


def test_chinese_is_marked_by_characters(page):
    page.fill("#search", "zh/xin utm_source")
    assert page.locator("#pair del").all_inner_texts() == ["晚"]
    assert page.locator("#pair ins").all_inner_texts() == ["早"]


def test_filters_narrow_the_list(page):
    page.select_option("#stage", "text")
    assert page.locator("#list .badge").all_inner_texts() == ["1 × text"]
    page.select_option("#resemblance", "0 0.84999")
    assert page.locator("#list li").count() == 0
    assert page.inner_text("#pair") == "Nothing is found."
    page.select_option("#stage", "")
    page.select_option("#resemblance", "0 0.99999")
    page.select_option("#order", "resemblance")
    alike = page.eval_on_selector_all("#list .badge", "nodes => nodes.map(n => n.textContent)")
    shown = [float(text.split()[-1]) for text in alike if text.startswith("lowest resemblance")]
    assert len(shown) > 3
    assert shown == sorted(shown)


def test_the_closest_calls_are_one_click_away(page):
    page.fill("#search", "something else")
    page.click("#closest")
    assert page.input_value("#search") == ""
    assert "Resemblance 0.9" in page.inner_text("#pair .facts")
    assert page.locator("#pair del, #pair ins").count() > 0


def test_the_keyboard_goes_through_pages_and_copies(page):
    titles = page.locator("#list .name").all_inner_texts()
    page.keyboard.press("j")
    assert page.inner_text("#list [aria-current=true] .name") == titles[1]
    page.keyboard.press("k")
    assert page.inner_text("#list [aria-current=true] .name") == titles[0]
    assert "Copy 1 of 2" in page.inner_text("#pair")
    page.keyboard.press("n")
    assert "Copy 2 of 2" in page.inner_text("#pair")


def test_every_chart_is_drawn_and_said_in_words(page):
    labels = page.eval_on_selector_all(
        ".chart canvas", "nodes => nodes.map(n => n.getAttribute('aria-label'))"
    )
    assert any("Pages fetched" in label for label in labels)
    assert page.locator(".chart canvas, .chart .empty").count() == 7
    assert all(labels)


def test_theme_switches_colours_of_page_and_charts(page):
    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    page.click("#theme")
    light = paper()
    page.click("#theme")
    assert page.inner_text("#theme") == "Theme: dark"
    assert paper() != light


@pytest.mark.parametrize("width", [360, 390, 768, 1200])
def test_nothing_is_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    # Charts follow a moment after the window; an error of the time limit fails the test.
    page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)


def test_hostile_pages_stay_text(page):
    page.fill("#search", "script")
    for place in range(page.locator("#list button").count()):
        page.locator("#list button").nth(place).click()
    page.fill("#search", "javascript:")
    assert page.locator("#pair .side").nth(1).locator("a").count() == 0
    assert page.evaluate("window.pwned") is None
    assert page.locator("img, svg, iframe").count() == 0


def test_injected_script_does_not_run(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.evaluate(
        "() => { const script = document.createElement('script');"
        " script.textContent = 'window.pwned = 1'; document.body.append(script); }"
    )
    assert page.evaluate("window.pwned") is None
    page.close()


def test_near_duplicates_of_other_names_are_one_click_away(page):
    page.click("#other-names")
    assert page.input_value("#names") == "other"
    assert page.inner_text("#found").startswith("1 page with 1 duplicate.")
    page.click("#list button")
    assert "Another name than the original" in page.inner_text("#pair .facts")
