"""`dedup why JOB URL`: what happened to a page, and how each stage decided."""

import argparse
from dataclasses import asdict

from rich.text import Text

from dedup.cli.arguments import add_job, add_json
from dedup.cli.console import output_console
from dedup.cli.explained import document_line, fate_text, origin_text, stages_table
from dedup.explain.fate import Fate, follow
from dedup.explain.origin import TextOrigin, text_origin
from dedup.explain.replay import OtherItem, Replay, StageReport
from dedup.store import JobStore, Page, open_store
from dedup.terminal.plain import plain, plain_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__.split(": ", 1)[1]
    add_job(parser)
    parser.add_argument(
        "url", metavar="URL", help="in any form that is equal under the job's URL rules"
    )
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    with open_store(options.job, read_only=True) as store:
        fates = follow(store, options.url)
        document = document_of(store, fates[-1])
        reports: list[StageReport] = []
        other: OtherItem | None = None
        origin = None if document is None else text_origin(store, document)
        is_earlier = fates[-1].original_job is not None  # which may be gone
        if document is not None and fates[-1].number is not None and not is_earlier:
            replay, before = Replay(store), fates[-1].number
            reports = replay.explain(document, before=before)
            other = replay.other_of_text(document, before=before)
    if options.json:
        said = {
            "url": options.url,
            "fates": [asdict(fate) for fate in fates],
            "text": origin and asdict(origin),
            "stages": [asdict(report) for report in reports],
            "same_text": other and asdict(other),
        }
        print(plain_json(said))
    else:
        _print(fates, document, origin, reports, other)
    return int(fates[0].outcome == "unknown")


def document_of(store: JobStore, fate: Fate) -> Page | None:
    """The page's document, if it was stored or dropped."""
    if fate.number is not None and fate.original_job is not None:
        return store.decisions.earlier.page(fate.number)
    if fate.number is None or fate.outcome not in ("stored", "duplicate"):
        return None
    read = store.page if fate.outcome == "stored" else store.dropped_page
    return read(fate.number)


def _print(
    fates: list[Fate],
    document: Page | None,
    origin: TextOrigin | None,
    reports: list[StageReport],
    other: OtherItem | None,
) -> None:
    console = output_console()
    for fate in fates:
        console.print(fate_text(fate), soft_wrap=True)
    if document is None or origin is None:
        return
    console.print(Text(f"  {document_line(document)}"))
    console.print(origin_text(origin), soft_wrap=True)
    if fates[-1].original_job is not None:
        return
    console.print()
    console.print(Text("The stages, replayed against the pages stored before it:"))
    console.print(stages_table(reports))
    if other is not None:
        names = ", ".join(f"`{name}`" for name in other.fields)
        place = other.url or f"item {other.number}"
        said = (
            f"It has the same text as {place} but differs in {names}, so the two are not compared."
        )
        console.print(Text(plain(said)), soft_wrap=True)
    if fates[-1].outcome == "duplicate" and fates[-1].stage != "body":
        console.print(
            Text(
                "Before a drop, both whole pages are compared in a second look. It cannot be"
                " repeated here: the body and rare lines of a dropped page are not kept."
            )
        )
    match = next((report.match for report in reports if report.match is not None), None)
    decided = (match.original, match.stage) if match else (None, None)
    if decided != (fates[-1].original, fates[-1].stage):
        console.print(
            Text(
                "The crawl decided otherwise: settings have changed, more is known of the site,"
                " or the page's body, which is not kept for dropped pages, made the difference."
            )
        )
