"""Dictionaries of structured fields, against RFC 9651 and by what they are made of."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.preferences.dictionary import read_dictionary

_KEYS = st.from_regex(r"[a-z*][a-z0-9_\-.*]{0,6}", fullmatch=True)
_BARE = st.one_of(
    st.from_regex(r"[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]{0,6}", fullmatch=True),
    st.from_regex(r"-?[0-9]{1,12}(\.[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r'"([ !#-\[\]-~]|\\["\\]){0,6}"', fullmatch=True),
    st.sampled_from(["?0", "?1", ":aGk=:", "@1659578233", '%"caf%c3%a9"']),
)
_PARAMETERS = st.lists(
    st.tuples(_KEYS, st.none() | _BARE).map(lambda each: f"; {each[0]}" + _given(each[1])),
    max_size=2,
).map("".join)


def _given(value: str | None) -> str:
    return "" if value is None else f"={value}"


@given(
    members=st.lists(st.tuples(_KEYS, st.none() | _BARE, _PARAMETERS), max_size=5),
    comma=st.sampled_from([",", ", ", " ,\t"]),
)
def test_what_was_written_is_read(members: list[tuple[str, str | None, str]], comma: str) -> None:
    text = comma.join(f"{key}{_given(value)}{more}" for key, value, more in members)
    assert read_dictionary(text) == {key: value or "?1" for key, value, _ in members}


@given(st.text(max_size=50))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_dictionary(text)
    assert found is None or all(text.count(key) for key in found)


@pytest.mark.parametrize(
    "text",
    [
        *("train-ai=n,", ",train-ai=n", "train-ai=n search=y", "TRAIN-AI=n", "train-ai = n", "a=é"),
        *("a=", "a==b", 'a="', "a;=1", "1=a", "a=(b", "a,,b", "a=b;C", "a=1234567890123456"),
    ],
)
def test_what_is_no_dictionary_is_refused_as_a_whole(text: str) -> None:
    assert read_dictionary(text) is None


def test_examples_of_the_draft() -> None:
    assert read_dictionary("train-ai=y, search=n") == {"train-ai": "y", "search": "n"}
    twice = read_dictionary('train-ai=y, train-ai, search=n, search="n"')
    assert twice == {"train-ai": "?1", "search": '"n"'}
    assert read_dictionary("train-ai;allow=n, train-ai=y") == {"train-ai": "y"}
    assert read_dictionary("a=(b;x c), d") == {"a": "(b;x c)", "d": "?1"}


@pytest.mark.parametrize("part", ["a=n,", "a;b", 'a="\\', "a=(b ", "%", ';a=%"', "a=("])
def test_hostile_text_takes_no_time(part: str) -> None:
    began = time.process_time()
    read_dictionary(part * 20_000)
    assert time.process_time() - began < 1
