"""What is read from a document, and why one is not read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LETTER = re.compile(r"[^\W\d_]")
_FILE_NAME = re.compile(
    r"^microsoft (?:word|powerpoint|excel) - |^\S+/\S+$"
    r"|\.(?:docx?|dvi|html?|indd|md|odt|pages|pdf|pmd|pptx?|ps|pub|qxd|rtf|tex|txt|wpd|xlsx?)$",
    re.IGNORECASE,
)
_DEFAULT_TITLES = frozenset(
    [
        *("document", "microsoft word", "no title", "pdf", "powerpoint presentation"),
        *("presentation", "print", "slide 1", "title", "untitled", "untitled document"),
        *("word document", "无标题", "未命名", "文档", "新建 microsoft word 文档"),
    ]
)
_MAX_TITLE_CHARACTERS = 300


class DocumentError(Exception):
    """A document is not read; `reason` is recorded."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class About:
    """What a document says of itself, as it is declared; "" and None: nothing.

    Attributes:
        created, modified: dates in any form.
        language: as in BCP 47.
        n_pages: the number of pages.
    """

    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""
    n_pages: int | None = None


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that was read.

    Attributes:
        text: a paragraph, or row of a table, is a line.
        heading: the first one; "": there is none.
    """

    about: About
    text: str
    heading: str = ""

    @property
    def title(self) -> str:
        """The declared title, or else the heading."""
        return self.own_title or self.heading

    @property
    def own_title(self) -> str:
        """The declared title; "", which agrees with any: there is none."""
        return good_title(self.about.title)


def checked(document: ReadDocument) -> ReadDocument:
    """The document, if it has text.

    Raises:
        DocumentError: it has none.
    """
    if not _LETTER.search(document.text):
        raise DocumentError("document_scanned", "it has no text")
    return document


def good_title(title: str) -> str:
    """A declared title; "": it is one that a program put there, or the name of a file.

    >>> good_title("Microsoft Word - report.doc"), good_title("Annual  Report")
    ('', 'Annual Report')
    """
    title = " ".join(title.split())[:_MAX_TITLE_CHARACTERS]
    is_bad = title.lower() in _DEFAULT_TITLES or _FILE_NAME.search(title)
    return title if not is_bad and _LETTER.search(title) else ""


def text_of(lines: Sequence[str]) -> str:
    """Lines as a text, each with white space folded except tabs between cells; empty ones go."""
    every = "\n".join(lines).split("\n")
    folded = ("\t".join(" ".join(cell.split()) for cell in line.split("\t")) for line in every)
    return "\n".join(line.strip() for line in folded if line.strip())
