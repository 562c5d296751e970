import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.document import Match
from dedup.errors import StateError
from dedup.store import Page, SqliteStore
from dedup.url_patterns.differences import _PARTS_OF_RULES
from dedup.url_patterns.suggestions import Together, UrlPattern, duplicate_patterns, together
from dedup.urls import RULES

SITE = "http://a.example"


def patterns(path: Path, contents: list[list[str]], **limits: int) -> list[UrlPattern]:
    """Of a job in which the URLs of a list show one page: the first is stored, the rest dropped."""
    store = SqliteStore(path / "crawl.sqlite")
    for urls in contents:
        page, *copies = [Page(id="", text=url, url=url, size_bytes=10) for url in urls]
        number = store.add(page, {})
        for copy in copies:
            store.add_duplicate(copy, Match(number, "text"))
    found = duplicate_patterns(store, **limits)
    store.close()
    return found


CASES = [
    # kind, URL of a page n, URL of its copy, detail, setting
    ("tracking", "/{n}", "/{n}?utm_source=x", "", "-s DEDUP_URL_RULES=tracking"),
    ("session", "/{n};jsessionid=1", "/{n};jsessionid=2", "", "-s DEDUP_URL_RULES=session"),
    ("slash", "/{n}", "/{n}/", "", "-s DEDUP_URL_RULES=slash"),
    ("index", "/{n}/", "/{n}/index.html", "", "-s DEDUP_URL_RULES=index"),
    ("parameter", "/?id={n}", "/?id={n}&sort=up", "sort", "-s DEDUP_URL_RULES=drop:sort"),
    ("parameter", "/?id={n}&sid=8{n}", "/?id={n}&sid=9", "sid", "-s DEDUP_URL_RULES=drop:sid"),
    ("parameter", "/{n}", "/{n}?a%2Cb=1", "a,b", "-a 'deny=[?&]a%2Cb='"),
    ("bare-query", "/{n}.html", "/{n}.html?a/{n}.html", "", "-s DEDUP_URL_RULES=bare-query"),
    ("print", "/{n}", "/{n}?view=print", "view=print", "-a 'deny=[?&]view=print(?:&|$)'"),
    ("print", "/{n}.html", "/print/{n}.html", "/print/", "-a deny=/print/"),
    (
        "print",
        "/{n}.html",
        "/{n}-print.html",
        "-print",
        r"-a 'deny=/[^/?]*-print(?![A-Za-z0-9])[^/?]*(?:\?|$)'",
    ),
    (
        "print",
        "/{n}.html",
        "/print-{n}.html",
        "print-",
        r"-a 'deny=/[^/?]*(?<![A-Za-z0-9])print-[^/?]*(?:\?|$)'",
    ),
    ("print", "/{n}", "/{n}/print", "/print", r"-a 'deny=/print(?:\?|$)'"),
    ("path", "/v1/{n}", "/v2/{n}", "/v2/ = /v1/", "-a deny=/v2/"),
]


@pytest.mark.parametrize(("kind", "page", "copy", "detail", "setting"), CASES)
def test_pattern_is_found_with_the_setting_that_avoids_it(
    tmp_path, kind, page, copy, detail, setting
):
    contents = [[SITE + page.format(n=n), SITE + copy.format(n=n)] for n in (11, 23, 35)]
    contents.append([f"{SITE}/alone", f"{SITE}/another"])
    first, other = patterns(tmp_path, contents)
    assert (first.kind, first.detail, first.setting) == (kind, detail, setting)
    assert (first.duplicates, first.size_bytes) == (3, 30)
    assert (first.saved, first.lost) == (3, 0)
    assert first.examples[0] == (contents[0][1], contents[0][0])
    assert (other.kind, other.duplicates, other.setting) == ("other", 1, "")


@pytest.mark.parametrize(
    ("kind", "mirror", "setting"),
    [
        ("www", "http://www.a.example", "-s DEDUP_URL_RULES=www"),
        ("https", "https://a.example", "-s DEDUP_URL_RULES=https"),
        ("host", "http://b.example:81", r"-a 'deny=://b\.example:81/'"),
    ],
)
def test_other_names_of_a_host_are_found(tmp_path, kind, mirror, setting):
    contents = [[f"{SITE}/{n}", f"{mirror}/{n}"] for n in "xyz"]
    contents.append([f"{SITE}/only-here"])
    (found,) = patterns(tmp_path, contents)
    assert (found.kind, found.setting, found.saved, found.lost) == (kind, setting, 3, 0)


def test_what_a_setting_would_lose_is_counted(tmp_path):
    contents = [[f"{SITE}/?id={n}", f"{SITE}/?id={n}&from=home"] for n in range(5)]
    contents += [[f"{SITE}/?id=9"], [f"{SITE}/?id=9&from=shop"]]  # here it matters
    (found,) = patterns(tmp_path, contents)
    assert (found.detail, found.saved, found.lost) == ("from", 5, 1)


def test_a_directory_that_loses_less_is_denied_whichever_was_crawled_first(tmp_path):
    contents = [[f"{SITE}/old/{n}", f"{SITE}/new/{n}"] for n in "abc"]
    contents += [[f"{SITE}/new/{n}"] for n in "de"]
    (found,) = patterns(tmp_path, contents)
    assert (found.setting, found.saved, found.lost) == ("-a deny=/old/", 3, 0)


def test_page_selecting_parameter_is_not_a_pattern(tmp_path):
    contents = [[f"{SITE}/?id={n}"] for n in range(9)]
    contents[0] += [f"{SITE}/?id={n}" for n in (20, 21)]  # the shop is closed
    (found,) = patterns(tmp_path, contents)
    assert (found.kind, found.duplicates) == ("other", 2)


def test_settings_that_lose_nothing_are_joined_and_tried_out(tmp_path):
    contents = [
        [f"{SITE}/{n}", f"{SITE}/{n}?sort=up", f"{SITE}/{n}/", f"{SITE}/print/{n}/?sort=up"]
        for n in "abc"
    ]
    found, joint = with_together(tmp_path, contents)
    assert {pattern.lost for pattern in found} == {0}
    assert joint == Together("-s DEDUP_URL_RULES=drop:sort,slash -a deny=/print/", 9, 0)


def test_what_settings_lose_only_together_is_counted(tmp_path):
    contents = [[f"{SITE}/{n}/?a=1", f"{SITE}/print/{n}", f"{SITE}/{n}/?b=print"] for n in "abc"]
    contents += [[f"{SITE}/print/{n}", f"{SITE}/{n}?b=print"] for n in "de"]
    _, joint = with_together(tmp_path, contents)
    assert joint == Together("-a 'deny=/print/|[?&]b=print(?:&|$)'", 6, 2)


def test_one_setting_alone_is_not_joined(tmp_path):
    contents = [[f"{SITE}/{n}", f"{SITE}/{n}/"] for n in "abc"]
    assert with_together(tmp_path, contents)[1] is None


def with_together(path, contents):
    found = patterns(path, contents)
    store = SqliteStore(path / "crawl.sqlite", read_only=True)
    joint = together(store, found)
    store.close()
    return found, joint


def test_settings_are_quoted_for_the_shell(tmp_path):
    strange = "x';touch%20y;'"
    contents = [[f"{SITE}/{n}", f"{SITE}/{strange}/{n}"] for n in "ab"]
    (found,) = patterns(tmp_path, contents)
    option, argument = shlex.split(found.setting)
    assert (option, argument) == ("-a", "deny=/x';touch%20y;'/")


def test_only_the_first_records_are_looked_at(tmp_path):
    contents = [[f"{SITE}/{n}", f"{SITE}/{n}/"] for n in range(10)]
    (found,) = patterns(tmp_path, contents, max_records=8)
    assert (found.duplicates, found.saved) == (4, 4)


def test_nothing_gives_nothing(tmp_path):
    assert patterns(tmp_path, []) == []


def test_damage_is_a_clear_error(tmp_path):
    store = SqliteStore(tmp_path / "crawl.sqlite")
    store.database.connection.execute("DROP TABLE duplicates")
    with pytest.raises(StateError, match="damaged"):
        duplicate_patterns(store)
    store.close()


pieces = st.sampled_from(["a", "b", "print", "33", "", "é", "%2F", "a-print.html", "index.html"])
urls = st.one_of(
    st.builds(
        "{}://{}/{}/{}?{}={}".format,
        st.sampled_from(["http", "https", "ftp"]),
        st.sampled_from(["a.example", "www.a.example", "b.example:8", "[::1]"]),
        pieces,
        pieces,
        st.sampled_from(["x", "utm_source", "x,y"]),
        pieces,
    ),
    st.text(max_size=20),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(urls, min_size=1, max_size=5), max_size=8))
def test_no_count_exceeds_what_there_is(tmp_path_factory, contents):
    found = patterns(tmp_path_factory.mktemp("job"), contents)
    duplicates = sum(len(urls) - 1 for urls in contents)
    for pattern in found:
        assert 0 <= pattern.lost < max(pattern.saved, 1)
        assert pattern.saved <= duplicates
        assert 0 < pattern.duplicates <= duplicates
    assert len({pattern.setting for pattern in found}) == len(found)


def test_every_rule_is_known_to_the_differences():
    assert _PARTS_OF_RULES.keys() == RULES.keys()


def test_no_pattern_matches_a_part_of_a_name(tmp_path):
    contents = [[f"{SITE}/{name}", f"{SITE}/no{name}"] for name in ("op", "break", "wrap")]
    assert [each.kind for each in patterns(tmp_path, contents)] == ["other"]


@pytest.mark.parametrize(
    ("url", "is_denied"),
    [
        ("/a-print.html", True),
        ("/x/a-print", True),
        ("/a-print?b=c", True),
        ("/a-printer.html", False),
        ("/a-print/b", False),  # a part, but not the last one
        ("/b?a-print", False),
    ],
)
def test_pattern_for_a_word_of_a_name_matches_whole_parts_only(tmp_path, url, is_denied):
    contents = [[f"{SITE}/{n}.html", f"{SITE}/{n}-print.html"] for n in "abc"]
    first, *_ = patterns(tmp_path, contents)
    _, option = shlex.split(first.setting)
    assert bool(re.search(option.removeprefix("deny="), SITE + url)) is is_denied
