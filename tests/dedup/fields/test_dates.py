"""When pages were published and modified."""

from datetime import date

import pytest

from dedup.fields.dates import dates_of
from dedup.fields.declared import read_declared
from dedup.html import bounded

URL = "http://example.org/news/tea"
DECLARED = '<meta property=article:published_time content="2019-11-19T09:00:00+01:00">'
MODIFIED = '<meta property=article:modified_time content="2019-11-20T10:00:00+01:00">'


def dates(
    head: str, body: str = "", *, title: str = "About tea", url: str = URL
) -> tuple[object, object]:
    page = bounded(
        f"<title>{title} | Museum</title>{head}<body><h1>About tea</h1>{body}<p>{'Text. ' * 40}"
    )
    found = dates_of(read_declared(page, url), url, date(2026, 11, 24))
    return found.published, found.modified


def json_ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def test_what_is_declared_counts() -> None:
    assert dates(DECLARED + MODIFIED) == ("2019-11-19T09:00:00+01:00", "2019-11-20T10:00:00+01:00")


def test_of_several_articles_the_one_of_the_page_counts() -> None:
    articles = (
        f'[{{"@type": "NewsArticle", "url": "{URL}", "datePublished": "2019-11-19"}},'
        ' {"@type": "NewsArticle", "url": "http://example.org/x", "datePublished": "2012-01-02"}]'
    )
    assert dates(json_ld(articles)) == ("2019-11-19", None)
    assert dates(json_ld(articles), url="http://example.org/other") == (None, None)


# What the page shows, and what is published then, by a declaration of 2019-11-19.
SHOWN = (
    ("<p>19 November 2019", "2019-11-19T09:00:00+01:00"),
    ("<p>18 November 2019", "2019-11-19T09:00:00+01:00"),  # in another zone
    ("<p>Posted 3 May 2011", None),  # another day
    ("<p>Posted on 3 May 2011<p>Reply of 5 May 2012", "2019-11-19T09:00:00+01:00"),
    ("<p>Updated 3 May 2020", "2019-11-19T09:00:00+01:00"),
    ("<p>On 3 May 2011 the museum was founded by friends of tea", "2019-11-19T09:00:00+01:00"),
)


@pytest.mark.parametrize(("body", "expected"), SHOWN)
def test_a_declaration_is_checked_against_the_page(body: str, expected: str | None) -> None:
    assert dates(DECLARED, body)[0] == expected


def test_sources_that_differ_in_the_hour_give_the_day_and_in_the_day_nothing() -> None:
    other = json_ld('{"@type": "Article", "datePublished": "2019-11-19T09:00:00-06:00"}')
    assert dates(DECLARED + other)[0] == "2019-11-19"
    other = json_ld('{"@type": "Article", "datePublished": "2011-05-03"}')
    assert dates(DECLARED + other)[0] is None
    assert dates(DECLARED + other, "<p>3 May 2011")[0] == "2011-05-03"


def test_what_builds_declare_needs_support() -> None:
    weak = '<meta name=dc.created content="2019-11-19">'
    assert dates(weak) == (None, None)
    assert dates(weak, "<p>19 November 2019")[0] == "2019-11-19"


def test_a_visible_date_beside_the_heading_counts() -> None:
    assert dates("", "<p>Posted on 3 May 2011 by Ann Lee") == ("2011-05-03", None)
    assert dates("", "<p>更新<p>2011-05-03")[1] == "2011-05-03"
    assert dates("", "<p>Last updated: 3 May 2011") == (None, "2011-05-03")


@pytest.mark.parametrize(
    "body",
    [
        "<p>3 May 2011<p>4 June 2012",  # two
        "<pre>Created: 3 May 2011</pre>",
        "<p>The tins were found on 3 May 2011 in the cellar of a house by the old harbour.",
    ],
)
def test_other_visible_dates_do_not_count(body: str) -> None:
    assert dates("", body) == (None, None)


def test_a_list_of_pages_has_no_date() -> None:
    assert dates("", "<p>3 May 2011", title="Blog, page 2") == (None, None)
    assert dates("", "<p>3 May 2011", url="http://example.org/tags/tea") == (None, None)
    site = "<meta property=og:type content=website>"
    assert dates(site + DECLARED + MODIFIED) == (None, None)
    shown = "<p>19 November 2019"
    assert dates(site + DECLARED, shown)[0] == "2019-11-19T09:00:00+01:00"
    assert dates(site + DECLARED, shown, url="http://example.org/archives/2019") == (None, None)


def test_the_url_counts_if_it_names_a_day_and_a_page() -> None:
    assert dates("", url="http://example.org/2019/11/19/tea")[0] == "2019-11-19"
    assert dates("", url="http://example.org/2019/11/19/") == (None, None)
    assert dates(DECLARED, url="http://example.org/2011/05/03/tea")[0] is None


def test_comments_and_teasers_do_not_count() -> None:
    comment = '<div class="comment-list"><time itemprop=datePublished datetime=2019-11-19></div>'
    assert dates("", comment) == (None, None)
    assert dates("", '<aside><time class=published datetime="2019-11-19">') == (None, None)
    assert dates("", '<time class=published datetime="2019-11-19">')[0] == "2019-11-19"


def test_a_page_is_not_modified_before_it_is_published() -> None:
    assert dates(DECLARED + MODIFIED.replace("2019-11-20", "2019-11-18"))[1] is None


def test_days_to_come_do_not_count() -> None:
    assert dates(DECLARED.replace("2019", "2031")) == (None, None)
