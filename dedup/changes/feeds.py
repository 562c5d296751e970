"""Changes as an Atom feed (RFC 4287), and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from dedup.changes.listing import Change
from dedup.times import iso_time

_NOT_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""A terminal that shows the file obeys them."""

_SIGNS = re.compile(r"([\\`*_\[\]<>#|])")


def atom(changes: Iterable[Change], name: str, updated: float) -> Iterator[str]:
    """The lines of a feed with an entry for each change.

    The id of an entry is made from the URL, the change and when it was seen: it is the same in each
    feed, and no reader shows it twice.

    Args:
        changes: in any order.
        name: of the job.
        updated: when the job was last visited, seconds since 1970.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<feed xmlns="http://www.w3.org/2005/Atom">'
    yield f"<title>{_xml(f'Changes of {name}')}</title>"
    yield f"<id>{_id(name)}</id>"
    yield f"<updated>{iso_time(updated)}</updated>"
    yield "<author><name>dedup changes</name></author>"
    for each in changes:
        yield "<entry>"
        yield f"<title>{_xml(f'{each.change}: {each.url}')}</title>"
        yield f"<id>{_id(each.url, each.change, iso_time(each.seen_at))}</id>"
        yield f"<updated>{iso_time(each.seen_at)}</updated>"
        if each.url.startswith(("http://", "https://")):
            yield f"<link href={_attribute(each.moved_to or each.url)}/>"
        yield f"<category term={_attribute(each.change)}/>"
        yield f'<content type="text">{_xml(chr(10).join(_sentences(each)))}</content>'
        yield "</entry>"
    yield "</feed>"


def markdown(changes: Iterable[Change], name: str, since: float) -> Iterator[str]:
    """The lines of a list of changes."""
    yield f"# Changes of {_plain(name)} since {iso_time(since)}"
    for each in changes:
        yield ""
        where = f"<{each.url}>" if re.fullmatch(r"https?://[^<>\s]+", each.url) else each.url
        yield f"- **{each.change}** {where if where[:1] == '<' else _plain(where)}"
        yield from (f"    - {_plain(line)}" for line in _sentences(each))


def _sentences(change: Change) -> list[str]:
    """What is told of a change beside its URL."""
    found = [f"seen {iso_time(change.seen_at)}"]
    if change.moved_to is not None:
        found.append(f"now at {change.moved_to}")
    if change.share is not None:
        found.append(f"{change.share:.1%} of the words")
    if change.note:
        found.append(change.note)
    found += [f"+ {line}" for line in change.came]
    return found + [f"- {line}" for line in change.went]


def _id(*parts: str) -> str:
    digest = sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
    return f"urn:uuid:{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"


def _xml(text: str) -> str:
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def _plain(text: str) -> str:
    """The text in one line, without signs that Markdown or a terminal takes for its own."""
    line = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return _SIGNS.sub(r"\\\1", line)
