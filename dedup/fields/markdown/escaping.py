"""Keeps text from being read as Markdown; a renderer takes the backslashes away again."""

from __future__ import annotations

import re

_SPECIAL = r"""\\(?=[!-/:-@\[-`{-~]|\0|$)   # a backslash that would escape what follows
      | [`*]
      | (?<![^\W_])_ | _(?![^\W_])      # within a word it is no emphasis
      | \[(?=\^) | \](?=[(\[:]|$)       # a footnote; what may be a link
      | <(?=[A-Za-z/!?]|\0|$)           # a tag
      | &(?=\#?\w+;)                    # a reference
      | ~(?=\S)
      | !$                              # in front of a link
"""
_TEXT = re.compile(_SPECIAL, re.VERBOSE)
_IN_LINK = re.compile(rf"[\[\]] | {_SPECIAL}", re.VERBOSE)
_DOLLAR = re.compile(r"\$")
_LINE_START = re.compile(
    r"""(?P<before>\s*+(?:\d{1,9}(?=[.)](?:\s|$)))?)
        (?P<special>
            \#(?=\#{0,5}(?:\s|$)) | [-+](?=\s|$) | [.)](?<=\d[.)])(?=\s|$) | >
          | =(?==*\s*$) | [-_](?=[-_\s]*$) | [-:|](?=[-:|\s]*$) | ~~(?=~)
          | \[(?=[ xX]\]\s)
        )""",
    re.VERBOSE,
)


def escaped(
    text: str, *, follows: str = "", in_link: bool = False, has_formulas: bool = False
) -> str:
    """Escape what Markdown would read as markup within a line.

    Args:
        text: a piece of text.
        follows: the character after it, as far as it is known.
        in_link: is it the text of a link or an image?
        has_formulas: may dollar signs begin a formula?
    """
    end = "" if follows and follows in "([:" else "\0"
    found = (_IN_LINK if in_link else _TEXT).sub(r"\\\g<0>", text + end).removesuffix("\0")
    return _DOLLAR.sub(r"\\$", found) if has_formulas else found


def escaped_line_start(line: str) -> str:
    r"""Escape what Markdown would read as a block at the beginning of a line.

    >>> [escaped_line_start(line) for line in ("1. a", "- b", "# c", "#d", "1.5", "> e", "---")]
    ['1\\. a', '\\- b', '\\# c', '#d', '1.5', '\\> e', '\\---']
    """
    found = _LINE_START.match(line)
    if found is None:
        return line
    return f"{found['before']}\\{line[found.end('before') :]}"


def fenced(text: str, *, in_cell: bool = False) -> str:
    """Code within a line, in as many backticks as it needs.

    >>> fenced("a"), fenced("a`b"), fenced("`")
    ('`a`', '``a`b``', '`` ` ``')
    """
    runs = re.findall("`+", text)
    fence = "`" * next(n for n in range(1, len(runs) + 2) if all(len(run) != n for run in runs))
    is_padded = text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " " and text.strip())
    inner = f" {text} " if is_padded else text
    if in_cell:
        inner = inner.replace("|", "\\|")
    return f"{fence}{inner}{fence}"


def destination(url: str, *, in_cell: bool = False) -> str:
    """A URL as the target of a link."""
    url = url.replace("\n", "%0A").replace("<", "%3C").replace(">", "%3E")
    if in_cell:
        url = url.replace("|", "%7C")
    return f"<{url}>" if re.search(r"[\s()\\]", url) else url
