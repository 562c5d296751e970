import pytest

from dedup.html import bounded
from dedup.html.article import find_article, without_what_is_beside

SENTENCE = "The tea of the hills was spoiled one spring by soldiers who slept on the sacks. "
ARTICLE = "".join(f"<p>{number}. {SENTENCE * 2}</p>" for number in range(6))
COMMENTS = f"<div class='comment-list'><p>A reader: {SENTENCE * 9}</p></div>"
LINKS = "<ul><li><a href=/a>Another article</a></ul>"


def article_html(page, *, text_length):
    article = find_article(page, text_length=text_length)
    return None if article is None else without_what_is_beside(article)


@pytest.mark.parametrize(
    "page",
    [
        "<article>{}</article>",
        "<div class=entry-content>{}</div>",
        "<div itemprop=articleBody><div>{}</div></div>",
        "<div id=story><section>{}</section></div>",
        "<div><h1>Title</h1><article><div>{}</div></article></div>",
    ],
)
def test_the_article_comes_without_what_is_beside_it(page):
    html = f"<body>{LINKS}{page.format(ARTICLE)}{COMMENTS}<aside><p>{SENTENCE * 3}</p></aside>"
    found = article_html(bounded(html), text_length=3_000)
    assert found is not None
    assert found.count(SENTENCE.strip()) == 12
    assert "reader" not in found
    assert "Another" not in found


def test_what_is_beside_the_article_within_it_is_cut_out():
    html = f"<article>{ARTICLE}<div class='newsletter-box'>Subscribe!</div>{COMMENTS}</article>"
    found = article_html(bounded(html), text_length=3_000)
    assert found is not None
    assert "Subscribe" not in found
    assert "reader" not in found


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (f"<div>{ARTICLE}</div>{COMMENTS}", "nothing is called an article"),
        (f"<div class=refentry>{ARTICLE}</div>{COMMENTS}", "DocBook's page of a manual"),
        (f"<div id=history>{ARTICLE}</div>{COMMENTS}", "no story"),
        (f"<article><p>{SENTENCE}</p></article>{COMMENTS}", "an article too short"),
        (f"<div class=post-text>{COMMENTS}{COMMENTS}</div>", "nothing but comments"),
        ("<article>" + "<li>item</li>" * 99 + "</article>", "no paragraphs"),
        ("", "nothing"),
    ],
)
def test_a_page_without_a_declared_article_is_left_alone(html, why):
    assert article_html(bounded(html), text_length=1_000) is None, why


def test_small_article_is_not_the_main_text():
    html = f"<article>{ARTICLE}</article><table>{'<tr><td>row' * 2_000}</table>"
    assert article_html(bounded(html), text_length=20_000) is None
    assert article_html(bounded(html), text_length=2_000) is not None
