"""Markdown of the markup of a page's own text: CommonMark, with GitHub's tables and footnotes."""

from dedup.fields.markdown.blocks import to_markdown

__all__ = ["to_markdown"]
