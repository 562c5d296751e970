"""Passages that stand in the texts of many pages of a host, such as licences and notes.

A *passage* is a line of a text with `MIN_WORDS` words or more: a paragraph or an item. Lines are
equal if all their characters are. A page on which a line stands several times does not count, and
keeps it: there it belongs to what the page says, as "Changed in version 3.6" does.
"""

from dedup.repetition.counting import MIN_PAGES, Counts, count_lines
from dedup.repetition.lines import MIN_CHARACTERS, MIN_WORDS
from dedup.repetition.passages import Found, Layout, find_passages

__all__ = [
    "MIN_CHARACTERS",
    "MIN_PAGES",
    "MIN_WORDS",
    "Counts",
    "Found",
    "Layout",
    "count_lines",
    "find_passages",
]
