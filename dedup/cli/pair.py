"""`dedup pair JOB URL URL`: how similar two pages are, and how each stage compares them."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.text import Text

from dedup.cli.arguments import add_job, add_json
from dedup.cli.console import output_console
from dedup.cli.explained import (
    comparisons_table,
    document_line,
    fate_text,
    marked,
    origin_text,
)
from dedup.cli.why import document_of
from dedup.explain.comparison import Comparison, Decision, compare, decide
from dedup.explain.fate import Fate, find_fate, follow
from dedup.explain.origin import text_origin
from dedup.explain.replay import Replay
from dedup.explain.text_differences import differences
from dedup.store import JobStore, Page, job_place, open_store
from dedup.terminal.plain import plain, plain_json

_NO_LOOK = (
    "The second look at both whole pages is not possible here: rare lines of the second page were"
    " not kept."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = __doc__.split(": ", 1)[1]
    add_job(parser)
    for name in ("first", "second"):
        parser.add_argument(name, metavar="URL", help="of a stored or dropped page")
    add_json(parser)


def execute(options: argparse.Namespace) -> None:
    with open_store(options.job, read_only=True) as store:
        fates = [follow(store, url)[-1] for url in (options.first, options.second)]
        fates.sort(key=lambda fate: fate.number or 0)  # the earlier page is the original
        with _place_of_first(store, fates) as (home, fates[0]):
            first, second = _document(home, fates[0]), _document(store, fates[1])
            origins = [text_origin(home, first), text_origin(store, second)]
        replay = Replay(store)
        comparisons = [compare(each, first, second, replay.config) for each in replay.signers]
        verdict = decide(
            first,
            second,
            replay.config,
            look=lambda: replay.look(second, first),  # the later page is judged
        )
    parts = differences(first.text, second.text)
    if options.json:
        account = {
            "pages": [asdict(fate) for fate in fates],
            "texts": [asdict(origin) for origin in origins],
            "stages": [asdict(comparison) for comparison in comparisons],
            "verdict": asdict(verdict),
            "differences": parts,
        }
        print(plain_json(account))
        return
    console = output_console()
    both = zip(fates, (first, second), origins, strict=True)
    for place, (fate, document, origin) in enumerate(both, start=1):
        console.print(Text(f"{place}. ") + fate_text(fate), soft_wrap=True)
        console.print(Text(f"  {document_line(document)}"))
        console.print(origin_text(origin), soft_wrap=True)
    console.print(Text("\nThe stages on this pair:"))
    console.print(comparisons_table(comparisons))
    console.print(Text(f"\n{conclusion(comparisons, verdict)}", overflow="fold"))
    if verdict.look is not None and verdict.look.lines:
        console.print(Text("\nOnly on the second:"))
        for line in verdict.look.lines:
            console.print(Text(f"  “{plain(line)}”", overflow="fold"))
    elif verdict.is_duplicate and second.rest is None:
        console.print(Text(_NO_LOOK))
    if first.text != second.text:
        console.print(Text("\nThe texts, with [-only in the first-] and {+only in the second+}:"))
        console.print(marked(parts))


@contextmanager
def _place_of_first(store: JobStore, fates: list[Fate]) -> Iterator[tuple[JobStore, Fate]]:
    """The job of the earlier page, which may be that of an earlier crawl, and its fate there."""
    first, second = fates
    if second.original_job is None or first.asked != second.original_url:
        yield store, first
        return
    with open_store(job_place(second.original_job), read_only=True) as earlier:
        yield earlier, find_fate(earlier, first.asked)


def conclusion(comparisons: list[Comparison], verdict: Decision) -> str:
    """Would the second page be dropped as a duplicate of the first, and why?"""
    stages = [each.stage for each in comparisons if each.is_candidate]
    proposed = f"Proposed by {', '.join(stages)}" if stages else "No stage proposed the pair"
    counts = (
        f"shingles: {verdict.common:,} common, {verdict.only_first:,} only in the first,"
        f" {verdict.only_second:,} only in the second; resemblance {verdict.resemblance:.3f}"
    )
    if "body" in stages:
        outcome = "Found by body; the bytes are the same: a duplicate."
    elif verdict.is_duplicate and stages:
        outcome = f"{proposed}; {verdict.words}: a duplicate."
    elif verdict.is_duplicate:
        outcome = f"{proposed}, so they were not compared; {verdict.words}: they are alike."
    else:
        outcome = f"{proposed}; {verdict.words}: not a duplicate."
    return plain(outcome) + "\n" + counts


def _document(store: JobStore, fate: Fate) -> Page:
    document = document_of(store, fate)
    if document is None:
        known = "was never seen" if fate.outcome == "unknown" else f"is {fate.outcome}"
        raise ValueError(
            f"URL must be a page whose text is kept, got {fate.asked!r}, which {known}: ask `dedup"
            " why` about it"
        )
    return document
