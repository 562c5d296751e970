"""Labelled corpora: documents from JSON Lines or a folder of pages, and the pairs among them."""

import gzip
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from benchmarks.evaluation.truth import Truth
from dedup.document import Document
from dedup.files import open_binary
from dedup.html import DEFAULT_EXTRACTOR, decode, extract_text, parse_page

_PAGE_ENDINGS = (".html", ".htm", ".xhtml", ".html.gz", ".htm.gz")
_GZIP_START = b"\x1f\x8b"


def read_corpus(path: Path, *, extractor: str = DEFAULT_EXTRACTOR) -> list[Document]:
    """Read all documents of a corpus, in its order, which is the order of the stream.

    A file is JSON Lines, plain or compressed, with `id` and `text` or `html` (and perhaps `title`).
    A folder's documents are its pages (.html, .htm, .xhtml, plain or .gz) at whatever depth, in the
    order of their paths; their ids are the paths below the folder. Of markup, `extractor` takes
    the main text; of pages the body is known as well.

    Raises:
        ValueError: a line is no such object, an id comes twice, or there is no document.
        OSError: it cannot be read.
    """
    found = _pages(path, extractor) if path.is_dir() else _lines(path, extractor)
    documents: dict[str, Document] = {}
    for place, document in found:
        if document.id in documents:
            raise ValueError(f"{place}: id must be given once, got {document.id!r} again")
        documents[document.id] = document
    if not documents:
        raise ValueError(f"{path}: expected documents, found none")
    return list(documents.values())


def read_pairs(path: Path, documents: Sequence[Document]) -> Truth:
    """Read the true pairs of a corpus: `id<TAB>id<TAB>resemblance` a line, plain or compressed.

    The file must name every pair of a resemblance of at least 0.5; those below may be there.

    Raises:
        ValueError: a line is no such triple, or names an unknown id.
        OSError: it cannot be read.
    """
    positions = {document.id: position for position, document in enumerate(documents)}
    pairs: dict[tuple[int, int], float] = {}
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                first, second, resemblance = line.rstrip("\r\n").split("\t")
                earlier, later = sorted((positions[first], positions[second]))
                pairs[earlier, later] = float(resemblance)
            except KeyError as error:
                raise ValueError(f"{path}, line {number}: unknown id {error}") from None
            except ValueError:
                raise ValueError(
                    f"{path}, line {number}: expected id, id and resemblance with tabs between, "
                    f"found {line.rstrip()[:100]!r}"
                ) from None
    return Truth(pairs, n_documents=len(documents))


def open_text(path: Path) -> TextIO:
    """Open UTF-8 text for reading, compressed or not; other bytes become U+FFFD."""
    return io.TextIOWrapper(open_binary(path), encoding="utf-8-sig", errors="replace")


def _lines(path: Path, extractor: str) -> Iterator[tuple[str, Document]]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                place = f"{path}, line {number}"
                yield place, _document(line, place, extractor)


def _document(line: str, place: str, extractor: str) -> Document:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: {error}") from error
    if not isinstance(row, dict) or "id" not in row:
        raise ValueError(f"{place}: expected a JSON object with `id`")
    text, html = row.get("text"), row.get("html")
    title = row.get("title") or ""
    if isinstance(text, str):
        return Document(id=str(row["id"]), text=text, title=str(title))
    if not isinstance(html, str):
        raise ValueError(f"{place}: expected a field `text` or `html` that is a string")
    return Document(
        id=str(row["id"]),
        text=extract_text(html, extractor=extractor),
        title=str(title) or parse_page(html, "").title,
        body=html.encode(errors="surrogatepass"),
    )


def _pages(folder: Path, extractor: str) -> Iterator[tuple[str, Document]]:
    for path in sorted(folder.rglob("*")):
        if not path.name.lower().endswith(_PAGE_ENDINGS):
            continue
        body = path.read_bytes()
        if body.startswith(_GZIP_START):
            body = gzip.decompress(body)
        html = decode(body).text
        yield (
            str(path),
            Document(
                id=path.relative_to(folder).as_posix(),
                text=extract_text(html, extractor=extractor),
                title=parse_page(html, "").title,
                body=body,
            ),
        )
