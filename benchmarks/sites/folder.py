"""Which file of a built site answers a request: as GitHub Pages does, and as wget names queries."""

import gzip
import mimetypes
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

HTML = "text/html"

_INDEX_FILES = ("index.html", "index.htm")
_HTML_ENDINGS = {"", ".html", ".htm", ".asp"}
_QUERY = re.compile(r"%3F|\?")  # in the name of a file that wget saved


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    content_type: str = HTML
    body: bytes = b""
    location: str = ""


class SiteFolder:
    """A folder of a built site.

    Args:
        root: the folder.
        hosts: links to these, with http or https, become links to where the site is served.
        starts: paths where a crawl begins; a folder among them without an index file is listed.

    Raises:
        ValueError: there is no such folder.
    """

    def __init__(self, root: Path, hosts: Sequence[str] = (), starts: Sequence[str] = ()) -> None:
        if not root.is_dir():
            raise ValueError(f"FOLDER must be a folder, got {str(root)!r}")
        self._root = root.resolve()
        self._listed = {start.strip("/") for start in starts}
        names = "|".join(map(re.escape, sorted(hosts, key=len, reverse=True)))
        self._links = re.compile(rf"https?://(?:{names})(?![\w-])".encode()) if names else None

    def answer(self, target: str, base: str) -> Answer:
        """What is at a path and query, where the site is served at `base`, a URL without a path.

        `/x` is x, the folder x (after a redirect to `/x/`), x.html, or x.gz unpacked; `/x?q` is
        x%3Fq or x?q if there is such a file. Files outside the folder are not served.
        """
        path, _, query = target.partition("?")
        name = unquote(path).strip("/")
        place = self._root / name
        if query and (file := self._first(f"{name}{end}" for end in _query_endings(query))):
            return self._page(file, path, base)
        if not _is_folder(place):
            file = self._first((name, f"{name}.html", f"{name}.gz"))
        elif path.endswith("/"):
            file = self._first(f"{name}/{index}".lstrip("/") for index in _INDEX_FILES)
        else:
            return Answer(301, location=f"/{path.strip('/')}/{query and f'?{query}'}")
        if file is not None:
            return self._page(file, path, base)
        if name in self._listed and _is_folder(place):
            return self._listing(place)
        return self._missing(base)

    def _first(self, names: Iterable[str]) -> Path | None:
        return next(filter(self._is_served, map(self._root.joinpath, names)), None)

    def _page(self, file: Path, path: str, base: str) -> Answer:
        """The answer with a file, of the type that its name has without query and packing."""
        body = file.read_bytes()
        name = _QUERY.split(file.name, maxsplit=1)[0]
        if name.endswith(".gz") and not path.endswith(".gz"):
            name = name.removesuffix(".gz")
            body = gzip.decompress(body)
        if PurePosixPath(name).suffix.lower() in _HTML_ENDINGS:
            return Answer(200, HTML, self._rewritten(body, base))
        kind, packing = mimetypes.guess_type(name)
        return Answer(200, kind if kind and not packing else "application/octet-stream", body)

    @staticmethod
    def _listing(folder: Path) -> Answer:
        names = sorted(f"{each.name}/" if each.is_dir() else each.name for each in folder.iterdir())
        items = "".join(f'<li><a href="{quote(name)}">{escape(name)}</a>\n' for name in names)
        return Answer(200, body=f"<title>Index</title>\n<ul>\n{items}</ul>\n".encode())

    def _missing(self, base: str) -> Answer:
        page = self._root / "404.html"
        body = page.read_bytes() if self._is_served(page) else b"<html><body>404</body></html>"
        return Answer(404, HTML, self._rewritten(body, base))

    def _rewritten(self, body: bytes, base: str) -> bytes:
        if self._links is None:
            return body
        return self._links.sub(base.rstrip("/").encode(), body)

    def _is_served(self, file: Path) -> bool:
        try:
            return file.is_file() and self._is_inside(file)
        except (OSError, ValueError):  # a name that is too long, or has a null byte
            return False

    def _is_inside(self, file: Path) -> bool:
        return file.resolve().is_relative_to(self._root)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _query_endings(query: str) -> Iterator[str]:
    for mark in ("%3F", "?"):
        yield f"{mark}{query}"
        yield f"{mark}{unquote(query)}"
