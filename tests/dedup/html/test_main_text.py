import json
import re
import subprocess
import sys
from html import unescape
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.html import EXTRACTORS, extract_text

SENTENCE = "The committee met on Tuesday to discuss the plans for the new harbour bridge. "
MENU = (
    "<nav><ul>"
    + "".join(f"<li><a href=/{i}>Section {i}</a></li>" for i in range(40))
    + "</ul></nav>"
)
ARTICLE = f"<html><body>{MENU}<main><article><h1>Bridge</h1>" + (
    f"<p>{SENTENCE * 3}</p><p>Second {SENTENCE * 3}</p></article></main></body></html>"
)


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_extract_text_blocks_are_lines(extractor):
    if extractor == "trafilatura":
        pytest.importorskip("trafilatura")
    lines = extract_text(ARTICLE, extractor=extractor).splitlines()
    assert (SENTENCE * 3).strip() in lines
    assert ("Section 7" in lines) == (extractor == "all")


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_processing_instructions_are_not_text(extractor):
    if extractor == "trafilatura":
        pytest.importorskip("trafilatura")
    page = ARTICLE.replace("<h1>", "<?php include 'menu.php' ?><h1>").replace("<p>", "<p><?x y?>")
    page = page.replace("<article>", "<?php ?><article><div hidden><?php ?></div>")
    assert extract_text(page, extractor=extractor) == extract_text(ARTICLE, extractor=extractor)


def test_extract_text_unknown_extractor():
    with pytest.raises(
        ValueError, match=r"extractor must be one of 'content', 'resiliparse', .*got 'magic'"
    ):
        extract_text("<p>x", extractor="magic")


def test_extract_text_trafilatura_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'scrapy-dedup\[trafilatura\]'"):
        extract_text("<p>x", extractor="trafilatura")


@pytest.mark.parametrize(
    "control",
    [
        "<textarea>{}</textarea>",
        "<input value='{}'>",
        "<select><option>{}</select>",
        "<div class=comments><p>{}</p></div>",
    ],
)
def test_extract_text_keeps_what_tells_pages_apart(control):
    body = ARTICLE.replace("</article>", control.format("distinguishing words") + "</article>")
    assert "distinguishing words" in extract_text(body)


def test_extract_text_leaves_out_bullets_alternative_texts_and_scripts():
    extra = f"<ol><li>{SENTENCE}</li></ol><img src=x alt=seagull><script>var x</script>"
    text = extract_text(ARTICLE.replace("</article>", extra + "</article>"))
    assert SENTENCE.strip() in text.splitlines()
    assert not any(word in text for word in ("•", "seagull", "var x"))


def test_extract_text_tiny_main_text_gives_way_to_all_visible_text():
    pages = [
        f"<body><main>Loading</main><div class=sidebar><p>{name} {SENTENCE * 5}</p></div></body>"
        for name in ("Ann", "Bob", "Cid")
    ]
    assert all(a != b for a, b in combinations(map(extract_text, pages), 2))


def test_extract_text_short_main_text_between_long_menus_stays():
    page = f"<body>{MENU * 10}<article><p>{SENTENCE * 5}</p></article></body>"
    assert extract_text(page) == (SENTENCE * 5).strip()


@pytest.mark.parametrize(
    "page",
    [
        "<script type='text/x-handlebars-template'><p>unfolded &amp; shown</p></script><div></div>",
        "<template><p>unfolded &amp; shown</p></template>",
    ],
)
def test_extract_text_content_that_waits_in_a_template(page):
    assert extract_text(page) == "unfolded & shown"


def test_extract_text_script_that_is_no_template_stays_hidden():
    assert extract_text("<script>let template = 1</script><p>x</p>") == "x"


@pytest.mark.parametrize("extractor", ["content", "resiliparse", "all"])
@pytest.mark.parametrize(
    "inside",
    ["<div>", "<iframe src=x>", "<textarea>", "<style>", "<script>", "<select>", "<svg>", "<!--"],
)
def test_no_text_is_lost_behind_an_element_left_open_in_noscript(extractor, inside):
    page = (
        f"<body><main><p>First. {SENTENCE}</p><noscript>{inside}</noscript>"
        f"<p>Last. {SENTENCE * 5}</p></main></body>"
    )
    text = extract_text(page, extractor=extractor)
    assert text.splitlines() == [f"First. {SENTENCE}".strip(), f"Last. {SENTENCE * 5}".strip()]


@pytest.mark.parametrize("extractor", ["content", "resiliparse", "all"])
@pytest.mark.parametrize("beside", ["<script>a = '<noscript>'</script>", "<!-- <noscript> -->"])
@pytest.mark.parametrize("end", ["", "<noscript>Switch on scripts.</noscript>"])
def test_noscript_in_script_or_comment_is_ignored(extractor, beside, end):
    page = f"<body>{beside}<main><p>{SENTENCE * 5}</p></main>{end}</body>"
    assert extract_text(page, extractor=extractor) == (SENTENCE * 5).strip()


NOTE = "Mind the gap between the platform and the train at this stop. "
PARAGRAPHS = "".join(f"<p>{number}. {SENTENCE * 2}</p>" for number in range(6))


@pytest.mark.parametrize("main", ["<main>{}</main>", "<article>{}</article>"])
@pytest.mark.parametrize(
    "inside",
    [
        f"<aside>{NOTE}</aside>",
        f"<aside class='theme-aside aside--note'><p>{NOTE}</p></aside>",
        f"<div role=tabpanel hidden><p>{NOTE}</p></div>",
        f"<div class='tab-pane hidden'><p>{NOTE}</p></div>",
        f"<div class=tab aria-hidden=true><p>{NOTE}</p></div>",
        f"<div class=tabs__content style='display: none'><p>{NOTE}</p></div>",
        f"<details><summary>More</summary><p>{NOTE}</p></details>",
    ],
)
def test_notes_and_hidden_tabs_in_the_main_part_are_kept(main, inside):
    page = f"<body>{MENU}{main.format(PARAGRAPHS + inside + PARAGRAPHS)}</body>"
    lines = extract_text(page).splitlines()
    assert NOTE.strip() in lines
    assert len(lines) == 13 + ("<summary>" in inside)
    assert "Section 7" not in lines


@pytest.mark.parametrize(
    "inside",
    [
        f"<aside class=related-stories><p>{NOTE}</p></aside>",
        f"<aside class=advert><p>{NOTE}</p></aside>",
        f"<aside><a href=/x>{NOTE}</a></aside>",
        f"<div class=share hidden><p>{NOTE}</p></div>",
    ],
)
def test_what_is_beside_an_article_by_its_name_is_no_note(inside):
    text = extract_text(f"<body><article>{PARAGRAPHS}{inside}{PARAGRAPHS}</article></body>")
    assert NOTE.strip() not in text


BOX = f"<div class=subscribe-now><p>{NOTE * 3}</p></div>"


@pytest.mark.parametrize(
    "page",
    [
        f"{BOX}<article hidden>{PARAGRAPHS}</article>",
        f"{BOX}<article style='display:none'>{PARAGRAPHS}</article>",
        f"{BOX}<article aria-hidden=true>{PARAGRAPHS}</article>",
        f"{BOX}<article><h1>Bridge</h1><div class='text hidden'>{PARAGRAPHS}</div></article>",
        f"{BOX}<div style='display:none'><article>{PARAGRAPHS}</article></div>",
        f"{BOX}<main hidden>{PARAGRAPHS}</main>",
        f"{BOX}<article><div class=paywall>{PARAGRAPHS}</div></article>",
        f"<article class=cookie-notice><p>{NOTE * 9}</p></article>"
        f"<div class=text>{SENTENCE * 30}</div>",
        f"<div role=dialog class=entry-offer><p>{NOTE * 6}</p><p>{NOTE * 6}</p></div>"
        f"<div class=text>{SENTENCE * 30}</div>",
        f"<dialog open><article><p>{NOTE * 9}</p></article></dialog>{PARAGRAPHS * 2}",
        f"<div id=age-check><article><p>{NOTE * 9}</p></article></div>{PARAGRAPHS * 2}",
    ],
)
@pytest.mark.parametrize("extractor", ["content", "resiliparse"])
def test_article_behind_a_notice_is_kept(page, extractor):
    if extractor == "resiliparse" and "<main hidden" in page:
        pytest.skip("landmarks are for the other")
    assert extract_text(f"<body>{page}</body>", extractor=extractor).count(SENTENCE.strip()) >= 12


def test_notice_page_keeps_its_text():
    page = f"<body><article class=privacy><h1>Privacy</h1>{PARAGRAPHS}</article><p>Menu</p></body>"
    assert extract_text(page).count(SENTENCE.strip()) == 12


def _with_json(body, *, shown=""):
    data = json.dumps({"@graph": [{"@type": "NewsArticle", "articleBody": body}]})
    return (
        f'<head><script type="application/ld+json">{data}</script></head>'
        f"<body><article><h1>Bridge</h1><p>{NOTE * 3}</p>{shown}</article></body>"
    )


@pytest.mark.parametrize("body", [SENTENCE * 10, PARAGRAPHS])
def test_article_only_in_json_ld_is_kept(body):
    text = extract_text(_with_json(body))
    assert text.count(SENTENCE.strip()) >= 10
    assert NOTE.strip() in text
    assert "<p>" not in text


def test_visible_article_is_not_repeated_from_json_ld():
    body = " ".join(f"{number}. {SENTENCE * 2}" for number in range(6))
    assert extract_text(_with_json(body, shown=PARAGRAPHS)).count(SENTENCE.strip()) == 12


@pytest.mark.parametrize("data", ["{", "[[[[[[[[[[[[[1]]]]]]]]]]]]]", '{"articleBody": 1}', "null"])
def test_json_ld_without_content(data):
    page = f"<script type='application/ld+json'>{data}</script><!-- articleBody --><p>One.</p>"
    assert extract_text(page) == "One."


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<div class=main>", "<table>", "<td", "<!--", "\0", "\ud800", "text ",
             "<textarea>", "</body>", "<svg>", "<template>", "&#xD800;", "中文。", "<noscript>"]
        )
    )
)  # fmt: skip
def test_extract_text_never_raises(parts):
    extract_text("".join(parts)).encode()


def test_import_is_light():
    heavy = {"bs4", "lxml", "scrapy", "trafilatura"}
    code = f"import dedup.html, sys; print(*{heavy} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""


def test_highlighting_changes_no_text():
    program = "def f(x):\n    return '&lt;span&gt;' + x  # a word\n"
    word = '<span class="k">{}</span>'
    coloured = "".join(word.format(part) if part.strip() else part for part in program.split(" "))
    pages = [f"<main><p>Text.<pre>{each}</pre></main>" for each in (program * 30, coloured * 30)]
    texts = ["".join(extract_text(page).split()) for page in pages]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["ul", "UL", "Ul"])
def test_list_below_body_is_not_a_menu(name):
    page = f"<body><p>One.</p><{name} class=x><li>Two</li></{name}><p>Three.</p>"
    assert extract_text(page) == "One.\nTwo\nThree."


@pytest.mark.parametrize(
    "text",
    [
        "有",
        "→",
        "한",
        "né",
        "5м",
        "a→",
        "“",
        "x",
        "&rarr;",
        "n&eacute;",
        " 无 ",
        "<b><i>男</i></b>",
    ],
)
@pytest.mark.parametrize("element", ["td", "li", "p", "b", "span"])
def test_one_character_that_is_all_of_an_element_stays(element, text):
    inside = f"<{element}>{text}</{element}>"
    if element == "td":
        inside = f"<table><tr><td>Colour</td>{inside}<td>Size</td></tr></table>"
    page = f"<body><main><p>{SENTENCE}</p>{inside}<p>{SENTENCE}</p></main></body>"
    character = unescape(re.sub("<.*?>", "", text)).strip()
    assert character in extract_text(page).replace(SENTENCE.strip(), "").split()


@pytest.mark.parametrize("icon", ["\uf101", "&#xF101;", "&#xe601;", "&#58881;"])
def test_icons_are_not_text(icon):
    page = f"<body><main><p>{SENTENCE}</p><i class=x>{icon}</i><p>{SENTENCE}</p></main></body>"
    assert extract_text(page) == f"{SENTENCE.strip()}\n{SENTENCE.strip()}"
