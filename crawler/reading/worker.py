"""The process that reads pages: `python -m crawler.reading.worker`; it loads no Scrapy.

Takes from standard input, and writes to standard output, pickles after their length in 8 bytes:
first what is `Wanted`, answered by one byte when all is ready; then for each `RawPage` its
`Content`, or a text of what went wrong, in their order.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from crawler.reading.page import Content, ContentReader, RawPage

LENGTH_BYTES = 8


def packed(value: object) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the other side closes, or is gone."""
    if (wanted := _next(questions)) is None:
        return
    reader = ContentReader(wanted)
    answers.write(b"!")
    answers.flush()
    while (raw := _next(questions)) is not None:
        answers.write(packed(_answer(reader, raw)))
        answers.flush()


def _next(questions: BinaryIO) -> Any:
    """The next question; None: there is no more, or only a part of it."""
    length = int.from_bytes(questions.read(LENGTH_BYTES), "big")
    data = questions.read(length)
    return pickle.loads(data) if 0 < length == len(data) else None  # noqa: S301 -- the crawl's


def _answer(reader: ContentReader, raw: RawPage) -> Content | str:
    try:
        return reader.read(raw)
    except Exception as error:  # noqa: BLE001 -- of one page
        return f"{type(error).__name__}: {error}"


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:  # the crawl was killed
        os._exit(1)  # without another try to write what is left


if __name__ == "__main__":
    main()
