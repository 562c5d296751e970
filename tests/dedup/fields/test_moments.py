"""Dates as pages write them."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.fields.moments import moment, moments
from dedup.times import iso_time

CASES = (
    ("2019-11-19T13:03:00.000Z", "2019-11-19T13:03:00Z"),
    ("2019-11-20T06:35:39+0530", "2019-11-20T06:35:39+05:30"),
    ("2019-11-20 01:50:59", "2019-11-20T01:50:59"),  # no zone is made up
    ("November 19, 2019, 07:47 PM EST", "2019-11-19T19:47"),  # EST may be two zones
    ("19 Nov 2019 07:09 GMT", "2019-11-19T07:09Z"),
    ("Tue Nov 19 2019 08:41:00 GMT+0000 (UTC)", "2019-11-19T08:41:00Z"),
    ("10:48, Tue, Nov 19, 2019", "2019-11-19T10:48"),
    ("1:39 am EST, Wednesday, November 20, 2019", "2019-11-20T01:39"),
    ("发布于2019年06月15日08:18 来源", "2019-06-15T08:18"),
    ("2018. 8. 25", "2018-08-25"),
    ("20191119", "2019-11-19"),
    ("23/08/2018", "2018-08-23"),
    ("11.14.2019", "2019-11-14"),
    ("2019-07-10T00:00:00Z", "2019-07-10"),  # programs write midnight for a day
    ("25. September 2018", "2018-09-25"),
    ("05/06/2019", None),  # May or June
    ("11/19/19", None),
    ("2019-02-30", None),
    ("0001-01-01T00:00:00Z", None),
    ("1970-01-01", None),
    ("version 2019.1.234", None),
    ("2019", None),
    ("", None),
)


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_date_is_read_only_if_it_means_one_day(text: str, expected: str | None) -> None:
    found = moment(text)
    assert (None if found is None else str(found)) == expected


def test_a_day_that_was_not_yet_is_not_read() -> None:
    assert moment("2019-11-20", latest=date(2019, 11, 19)) is None
    assert str(moment("Event on 2030-01-01, posted 2019-11-19", latest=date(2019, 11, 20)))[:4] == (
        "2019"
    )


def test_all_dates_of_a_line_are_read() -> None:
    found = moments("Published Nov 18, 2019 at 4:07 PM | Updated 2019-11-19 08:00")
    assert list(map(str, found)) == ["2019-11-18T16:07", "2019-11-19T08:00"]


@given(st.text(alphabet="0123456789-/.:T年月日 Zaeprmnov,+", max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for found in moments(text):
        assert datetime.fromisoformat(str(found).replace("Z", "+00:00")).date() == found.day


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_times_of_exports_are_read_back_to_the_millisecond(at: datetime) -> None:
    text = iso_time(at.timestamp())
    assert text.endswith("Z")
    assert 0 <= at.timestamp() - datetime.fromisoformat(text).timestamp() < 0.001001
