"""What is read of the data from which scripts make a page."""

from __future__ import annotations

import pytest

from dedup.html import bounded
from dedup.html.structured import state_text


def next_page(data: str) -> str:
    return (
        f'<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{data}</script>'
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            next_page(
                '{"props": {"pageProps": {"slug": "a-b-c-d", "url": "https://a.example/b c d e",'
                ' "body": "<p>The keeper wrote</p> it down.", "n": 7}}, "buildId": "x1"}'
            ),
            "The keeper wrote  it down.",
        ),
        (next_page('["灯塔看守人每天写下天气的情况", "灯塔"]'), "灯塔看守人每天写下天气的情况"),
        (next_page('["One two three four.", "One two three four."]'), "One two three four."),
        (next_page('["Damaged'), ""),
        (next_page("[" * 5_000), ""),
        ("<script type=application/json>{}</script>", ""),
        ("<p>No data at all in this page.", ""),
    ],
)  # fmt: skip
def test_sentences_in_state_are_its_text(html: str, expected: str) -> None:
    assert state_text(bounded(html)) == expected


def test_state_text_is_bounded() -> None:
    many = ", ".join(f'"sentence number {n} of a very long state"' for n in range(20_000))
    assert len(state_text(bounded(next_page(f"[{many}]")))) < 250_000
