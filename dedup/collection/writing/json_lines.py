"""Writing JSON Lines."""

import json

from dedup.collection.rows import JsonRow, Row, Values, json_line
from dedup.collection.writing import Output
from dedup.collection.writing.bytes_as_text import BytesAsText
from dedup.document import Document
from dedup.files import create_binary


class JsonLinesWriter:
    """Lines that came as JSON are written unchanged, byte for byte, with marks at the end."""

    def __init__(self, output: Output) -> None:
        self._file = create_binary(output.path)
        self._texts = BytesAsText(output)

    def write(self, row: Row, document: Document, marks: Values | None) -> None:
        if isinstance(row, JsonRow):
            line = row.line.rstrip()
            self._file.write(line + b"\n" if marks is None else marked_line(line, marks))
            return
        self._file.write(json_line(self._texts.values(row, document, marks)))

    def finish(self) -> None:
        self._texts.tell()

    def close(self) -> None:
        self._file.close()


def marked_line(line: bytes, marks: Values) -> bytes:
    """A line of JSON with the marks at its end, in place of columns of their names."""
    spliced = _spliced(line.rstrip(), marks)
    if spliced is not None:
        return spliced + b"\n"
    return json_line({**json.loads(line.decode("utf-8", "replace")), **marks})


def _spliced(line: bytes, marks: Values) -> bytes | None:
    """The line with the marks at its end; None: it may have such columns already, or none."""
    if any(f'"{name}"'.encode() in line for name in marks) or b"\\u" in line[:1]:
        return None
    body = line.removesuffix(b"}").rstrip()
    separator = b"" if body.endswith(b"{") else b", "
    return body + separator + json_line(marks).rstrip()[1:]
