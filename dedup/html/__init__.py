"""From the bytes of a page to its text, links and metadata."""

from dedup.html.bounds import Bounded, bounded
from dedup.html.decode import Decoded, decode
from dedup.html.main_text import DEFAULT_EXTRACTOR, EXTRACTORS, extract_text
from dedup.html.page import HtmlPage, parse_page

__all__ = [
    "DEFAULT_EXTRACTOR",
    "EXTRACTORS",
    "Bounded",
    "Decoded",
    "HtmlPage",
    "bounded",
    "decode",
    "extract_text",
    "parse_page",
]
