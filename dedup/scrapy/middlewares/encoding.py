"""Downloader middleware: notes how a body was compressed before Scrapy unpacks it."""

from __future__ import annotations

from scrapy.http import Response

from dedup.scrapy.component import Component


class NoteEncoding(Component):
    """Copies `Content-Encoding`, which Scrapy removes, to a header that is stored with the body."""

    def process_response(self, response: Response, **_: object) -> Response:
        if encodings := response.headers.getlist("Content-Encoding"):
            response.headers["X-Crawler-Content-Encoding"] = encodings
        return response
