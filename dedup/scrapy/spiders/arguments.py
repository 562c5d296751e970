"""Converts and checks the arguments of spiders."""

from __future__ import annotations

import re

from dedup.urls import canonical_url


def split_urls(urls: str) -> list[str]:
    """The URLs in a list separated by commas; commas within a URL stay.

    Raises:
        ValueError: one of them is not an http(s) URL.

    >>> split_urls("http://a.example/?x=1,2,https://b.example/")
    ['http://a.example/?x=1,2', 'https://b.example/']
    """
    parts = [part.strip() for part in re.split(r",(?=\s*https?://)", urls) if part.strip()]
    for part in parts:
        try:
            canonical_url(part)
        except ValueError as error:
            raise ValueError(
                f"url must be one or more http(s) URLs, got {part!r} ({error})"
            ) from None
    return parts


def whole_number(name: str, value: str | int) -> int:
    """The value of an argument that is a number of 0 or more.

    Raises:
        ValueError: it is not such a number.
    """
    try:
        number = int(value)
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError(f"{name} must be a number from 0 up, got {value!r}")
    return number


def flag(name: str, value: object) -> bool:
    """The value of an argument that is on or off.

    Raises:
        ValueError: it is neither.
    """
    text = str(value).lower()
    if text not in {"", "0", "1", "false", "true"}:
        raise ValueError(f"{name} must be 1 or 0, got {value!r}")
    return text in {"1", "true"}
