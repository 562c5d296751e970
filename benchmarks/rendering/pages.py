"""Pages as a server's templates make them."""

import re
from collections.abc import Iterable
from html import escape

from benchmarks.rendering.records import Record

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#+\-!|~&:])")


def page(title: str, content: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(title)}</title></head>
<body>
<header><a href="/">The Shop's Paper</a> <nav>News, goods and what our readers say</nav></header>
<main>
{content}
</main>
<footer>Delivery and returns · Imprint · We use no cookies</footer>
</body>
</html>
"""


def article(record: Record, until: int | None = None) -> str:
    """An article, or its first paragraphs."""
    return (
        f"<article>\n<h1>{escape(record.title)}</h1>\n{body(record.paragraphs[:until])}</article>"
    )


def body(paragraphs: Iterable[str]) -> str:
    return "".join(f"<p>{escape(text)}</p>\n" for text in paragraphs)


def links(records: Iterable[Record], folder: str) -> str:
    items = (
        f'<li><a href="{folder}{each.slug}.html">{escape(each.title)}</a></li>\n'
        for each in records
    )
    return f"<ul>\n{''.join(items)}</ul>\n"


def markdown(text: str) -> str:
    """Headings and paragraphs, with all else that Markdown and Vue would read escaped."""
    lines = text.split("\n\n")
    escaped = (_MARKDOWN.sub(r"\\\1", line).replace("{{", "{ {") for line in lines[1:])
    return "\n\n".join((lines[0], *escaped)) + "\n"
