"""URLs that look like a trap, and those of normal sites, which do not."""

import pytest

from dedup.urls.traps import HostBudget, TrapWatch, pattern_of, suspicion

YEAR = 2026


@pytest.mark.parametrize(
    ("url", "depth", "expected"),
    [
        ("http://a.example/", 201, "depth"),
        ("http://a.example" + "/dir" * 3 + "/page", 4, ""),
        ("http://a.example" + "/dir" * 4 + "/page", 4, "repetition"),
        ("http://a.example/a/b/a/b/a/b/a/b", 4, "repetition"),
        ("http://a.example/" + "/".join(map(str, range(31))), 4, "long_path"),
        ("http://a.example/?" + "&".join(["p=1"] * 21), 4, "repetition"),
        ("http://a.example/calendar/2031/02/", 4, "calendar"),
        ("http://a.example/events?year=9999&month=3", 4, "calendar"),
        ("http://a.example/calendar?date=2210-03-01", 4, "calendar"),
        # Of normal sites:
        ("http://a.example/calendar/2027/02/", 4, ""),
        ("http://a.example/2026/11/22/the-year-3000", 4, ""),
        ("http://a.example/archive/1890/05/03/", 4, ""),
        ("http://a.example/item/20310", 4, ""),
        ("http://a.example/library/os.path.html?highlight=path#os.path", 9, ""),
        ("http://a.example/commit/0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", 9, ""),
        ("http://a.example/list?page=150", 150, ""),
        ("http://a.example/a/a/a/b", 4, ""),
    ],
)
def test_what_looks_like_a_trap(url, depth, expected):
    assert suspicion(url, depth=depth, year=YEAR) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/p/1", "http://a.example/p/22"),
        ("http://a.example/p;jsessionid=1", "http://a.example/p;jsessionid=2"),
        ("http://a.example/?a=1&b=2", "http://a.example/?b=3&a=4"),
        ("http://a.example/s/f00dfeedf00dfeed1", "http://a.example/s/1bcdefabcdef01234567"),
        ("http://a.example/x/y/x/y", "http://a.example/x/y/x/y/x/y"),
    ],
)
def test_patterns_of_the_same_shape(one, other):
    assert pattern_of(one) == pattern_of(other)


def test_a_pattern_of_duplicates_is_put_off():
    watch = TrapWatch(budget=3, year=YEAR)
    for number in range(30):
        watch.note(f"http://a.example/p?sid={number}", is_duplicate=number > 0)
        watch.note(f"http://a.example/print/{number}", is_duplicate=number % 2 > 0)
    assert watch.reason_to_defer("http://a.example/p?sid=77", 1) == "session"
    assert watch.reason_to_defer("http://a.example/print/77", 1) == ""
    for number in range(100):
        watch.note(f"http://a.example/copy/{number}", is_duplicate=number > 5)
    assert watch.reason_to_defer("http://a.example/copy/777", 1) == "duplicates"


def test_the_budget_is_of_a_host_and_pattern():
    watch = TrapWatch(budget=2, year=YEAR)
    taken = [watch.take(f"http://a.example/cal/{number}") for number in range(4)]
    assert taken == [True, True, False, False]
    assert watch.take("http://b.example/cal/1")
    assert watch.take("http://a.example/other/1")


def test_what_an_earlier_process_fetched_counts():
    watch = TrapWatch(budget=3, year=YEAR)
    numbers = range(30)
    watch.restore(
        taken=["http://a.example/cal/1", "http://a.example/cal/2"],
        pages=["http://a.example/p?sid=0"],
        duplicates=[f"http://a.example/p?sid={number}" for number in numbers],
    )
    assert [watch.take(f"http://a.example/cal/{number}") for number in (3, 4)] == [True, False]
    assert watch.reason_to_defer("http://a.example/p?sid=77", 1) == "session"


def test_a_host_has_a_budget_whatever_its_patterns():
    budget = HostBudget(3, {"a.example": 1})
    urls = ["http://a.example/1", "http://A.example/x?y", "https://a.example/z", "http://b.example"]
    assert [budget.take(url) for url in urls] == [True, True, False, True]
