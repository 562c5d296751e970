"""`dedup seen JOB… PAGE`: has any of these jobs this page, by its URL or by its content?"""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from rich.text import Text

from dedup.cli.arguments import add_json
from dedup.cli.console import output_console
from dedup.collection.columns import Fields
from dedup.collection.documents import page_document
from dedup.document import Document
from dedup.explain.seen import BY_URL, Seen, SeenPages, url_in
from dedup.html import decode
from dedup.store import JobStore, job_place, open_store
from dedup.terminal.plain import plain, plain_json
from dedup.times import iso_time
from dedup.urls.parts import host_of

_MAX_BYTES = 64 << 20
"""The most that is read of a page."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__.split(": ", 1)[1]
    parser.epilog = "The exit status is 0 if one of the jobs has it, and 1 if none has."
    parser.add_argument(
        "jobs",
        nargs="+",
        type=job_place,
        metavar="JOB",
        help="folder, file or postgresql://…/DATABASE#NAME; the first job that has the page is"
        " named",
    )
    parser.add_argument(
        "page",
        metavar="URL|FILE|-",
        help="a URL, which is looked up and not fetched; or a file of text or HTML; - reads"
        " standard input",
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help="where the file's page is from: what was learned of its host then tells which part"
        " is its own text",
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    is_url = options.page.startswith(("http://", "https://"))
    if is_url and options.url is not None:
        raise ValueError(f"--url is of a page in a file, got {options.url!r} beside a URL")
    data = b"" if is_url else _data(options.page)
    with ExitStack() as opened:
        stores: list[JobStore] = [
            opened.enter_context(open_store(job, read_only=True)) for job in options.jobs
        ]
        found = url_in(stores, options.page) if is_url else _found(stores, data, options.url)
    if options.json:
        print(plain_json(_as_json(found)))
    else:
        output_console().print(_words(found), soft_wrap=True)
    return int(found is None)


def _found(stores: list[JobStore], data: bytes, url: str | None) -> Seen | None:
    jobs = [SeenPages(store) for store in stores]
    document = _document(data, url, jobs)
    return next((found for job in jobs if (found := job.find(document))), None)


def _data(name: str) -> bytes:
    if name == "-":
        found = sys.stdin.buffer.read(_MAX_BYTES + 1)
    else:
        with Path(name).open("rb") as file:
            found = file.read(_MAX_BYTES + 1)
    if len(found) > _MAX_BYTES:
        raise ValueError(f"the page must have at most {_MAX_BYTES:,} bytes, got more in {name!r}")
    return found


def _document(data: bytes, url: str | None, jobs: list[SeenPages]) -> Document:
    """The page as a crawl would read it, or the text where it is no markup."""
    text = decode(data).text
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return Document(id="", text=text, url=url)
    host = host_of(url)
    site = next((site for job in jobs if (site := job.site(host))), None)
    sites = {} if site is None else {host: site}
    return page_document("", Fields(None, url, "", None, text), sites, data)


def _as_json(found: Seen | None) -> dict[str, object]:
    if found is None:
        return {"found": False}
    return {"found": True, **found._asdict(), "fetched_at": iso_time(found.fetched_at)}


def _words(found: Seen | None) -> Text:
    if found is None:
        return Text("not found")
    how = "by its URL"
    if found.stage != BY_URL:
        distance = "" if found.distance is None else f"distance {found.distance}, "
        how = f"by {found.stage} ({distance}resemblance {found.resemblance or 1:.3f})"
    title = f'\n  "{plain(found.title)}"' if found.title else ""
    return Text(
        f"found {how}:\n  {plain(found.url or '')}{title}\n"
        f"  page {found.number} of {plain(found.job)}, fetched {iso_time(found.fetched_at)}"
    )
