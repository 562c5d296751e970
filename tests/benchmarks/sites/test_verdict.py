"""Verdicts on crawls that are made up: the contents, and what was kept and dropped of them."""

from dataclasses import replace

import pytest

from benchmarks.sites.container import Content
from benchmarks.sites.verdict import Drop, judge, likeness

pytestmark = pytest.mark.slow

LONG = [f"word{number}" for number in range(200)]
OTHER = [f"other{number}" for number in range(200)]
NEAR = [*LONG[:195], *(f"changed{number}" for number in range(5))]  # 193 of 203 shingles shared
HALF = [*LONG[:100], *OTHER[:100]]  # 98 of 298


def content(words, name="page", code=()):
    return Content(words=words, name=name, code=code)


def kept(url, text=""):
    return {"url": f"http://a/{url}", "text": text}


def dropped(url, original, stage="minhash"):
    return {"url": f"http://a/{url}", "duplicate_of_url": f"http://a/{original}", "stage": stage}


def verdict(contents, kept_rows, dropped_rows=()):
    by_url = {f"http://a/{name}": each for name, each in contents.items()}
    return judge(kept_rows, dropped_rows, lambda url: by_url.get(url, Content(is_missing=True)))


@pytest.mark.parametrize(
    ("first", "second", "jaccard", "is_same"),
    [
        (LONG, LONG, 1.0, True),
        (LONG, NEAR, 193 / 203, True),
        (LONG, HALF, 98 / 298, False),
        (LONG, OTHER, 0.0, False),
        (LONG[:49], LONG[:49], 1.0, True),
        (LONG[:49], LONG[:50], 47 / 48, False),  # one is short, and they are not equal
        (LONG[:50], LONG[:51], 48 / 49, True),
        ([], [], 1.0, True),
        ([], LONG, 0.0, False),
    ],
)
def test_likeness(first, second, jaccard, is_same):
    assert likeness(content(first), content(second)) == (pytest.approx(jaccard), is_same)
    assert likeness(content(second), content(first)) == (pytest.approx(jaccard), is_same)


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        (content(LONG), ("copy",)),
        (content(NEAR), ("copy",)),
        (content(NEAR, "another"), ("twin",)),
        (content(LONG, "another"), ()),  # one text under two names is no loss
        (content(HALF), ("wrong", "far", "lost")),
        (content([*LONG[:120], *OTHER[:30]]), ("wrong", "lost")),  # 118 of 228
        (content(OTHER), ("wrong", "far")),  # kept as another page
        (content(LONG[:49]), ("wrong", "far", "lost")),
    ],
)
def test_drops(page, kinds):
    found = verdict(
        {"original": content(LONG), "other": content(OTHER), "page": page},
        [kept("original"), kept("other")],
        [dropped("page", "original")],
    )
    (drop,) = found.drops
    assert drop.kinds == kinds
    assert (drop.url, drop.original_url, drop.stage) == (
        "http://a/page",
        "http://a/original",
        "minhash",
    )


def test_twins_are_pages_of_one_host():
    row = {"url": "http://b/page", "duplicate_of_url": "http://a/original", "stage": "text"}
    pages = {"http://a/original": content(LONG), "http://b/page": content(NEAR, "another")}
    assert judge([kept("original")], [row], pages.__getitem__).count("twin") == 0


def test_unjudged_drops_are_counted_by_reason():
    found = verdict(
        {"original": content(LONG), "bare": Content(), "page": content(OTHER)},
        [kept("original"), kept("bare")],
        [
            dropped("page", "nowhere"),
            dropped("gone", "original"),
            dropped("bare", "original"),
            dropped("page", "bare"),
        ],
    )
    assert found.drops == []
    assert dict(found.unjudged) == {
        "original not kept": 1,
        "page not found again": 1,
        "no container": 2,
    }
    assert found.without_container == 1


def test_texts_are_measured_by_their_words():
    found = verdict(
        {"all": content(LONG[:10]), "half": content(LONG[:10]), "tiny": content(LONG[:4])},
        [
            kept("all", " ".join(LONG[:10])),
            kept("half", "Word0 word1 word2 word3 word4 more."),
            kept("tiny", "nothing of it"),
        ],
    )
    assert [(text.recall, text.precision) for text in found.texts] == [
        (1.0, 1.0),
        (0.5, pytest.approx(5 / 6)),
    ]
    figures = found.figures()
    assert (figures["recall_mean"], figures["recall_p10"]) == (0.75, 0.5)
    assert figures["pages_below_recall_.8"] == 1


def test_a_word_counts_as_often_as_it_stands_there():
    found = verdict({"page": content(["a", "a", "a", "b", "c"])}, [kept("page", "a a b b")])
    (text,) = found.texts
    assert (text.recall, text.precision) == (3 / 5, 3 / 4)


def test_code_is_looked_for_without_white_space():
    page = content(LONG[:10], code=["f(x):", "returnx", "lost()"])
    found = verdict({"page": page}, [kept("page", "def f(x):\n  return x")])
    assert (found.code_lines, found.code_kept) == (3, 2)
    assert found.figures()["code_kept"] == 0.6667


def test_kept_copies_count_as_missed():
    pages = {
        "a": content(LONG),
        "b": content(NEAR),
        "c": content(LONG, "another"),
        "d": content(LONG),
    }
    pages |= {"short": content(LONG[:9]), "again": content(LONG[:9])}
    found = verdict(
        pages, [kept(name) for name in ("a", "b", "c", "short", "again")], [dropped("d", "a")]
    )
    assert found.missed == 1
    assert found.figures()["copies_dropped"] == 0.5


def test_figures_of_a_crawl_that_dropped_nothing():
    figures = verdict({"bare": Content()}, [kept("bare")]).figures()
    assert figures["wrong"] == figures["dropped"] == figures["missed"] == 0
    assert figures["recall_mean"] is figures["copies_dropped"] is figures["code_kept"] is None


def test_mistakes_are_counted_by_stage():
    drops = [
        Drop("a", "b", "text", 0.1, ("wrong", "far", "lost")),
        Drop("c", "b", "text", 0.6, ("wrong",)),
        Drop("d", "b", "body", 1.0, ("copy",)),
    ]
    assert replace(verdict({}, []), drops=drops).figures()["by_stage"] == {
        "text wrong": 2,
        "text far": 1,
        "text lost": 1,
    }
