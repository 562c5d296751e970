"""Output of `dedup why` and `dedup pair`: fates, stages and differences in words."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from dedup.cli.console import plain
from dedup.document import Document
from dedup.explain.comparison import Comparison
from dedup.explain.fate import Fate
from dedup.explain.origin import TextOrigin
from dedup.explain.reasons import LEFT_OUT, reason_words, remedy, visit_words
from dedup.explain.replay import Candidate, StageReport
from dedup.explain.text_differences import Part
from dedup.rendering.record import HowRead, reading_words

_SHOWN_CANDIDATES = 3
_SHOWN_BOXES = 12
_SENTENCE = 60
_MARKED = 1_500


def fate_text(fate: Fate) -> Text:
    """The fate of a URL: the URL, its outcome, and the time."""
    lines = [plain(fate.url or fate.asked), *_outcome(fate)]
    if fate.url is not None and fate.url != fate.asked:
        lines.insert(1, f"requested as {plain(fate.asked)}")
    if fate.seen_at is not None:
        time = _time(fate.seen_at)
        title = f', "{plain(fate.title)}"' if fate.title else ""
        tried = "left out" if fate.reason in LEFT_OUT else "tried"
        done = f"{tried} {time}" if fate.is_fetched is False else f"fetched {time}{title}"
        lines.append(done)
    if fate.visited is not None:
        to = f" to {plain(fate.moved_to)}" if fate.moved_to else ""
        found = f"{plain(visit_words(fate.visited))}{to}"
        lines.append(f"visited {_time(fate.visited_at or 0)}: {found}")
    text = Text("\n  ".join(lines))
    text.stylize("bold", 0, len(lines[0]))
    return text


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _outcome(fate: Fate) -> Iterator[str]:
    if fate.outcome == "stored":
        counts = ", ".join(f"{stage} {count:,}" for stage, count in fate.duplicates.items())
        dropped = f"; its duplicates: {counts}" if counts else "; no duplicates"
        yield f"stored, as page {fate.number}{dropped}"
        yield from _apart(fate)
    elif fate.outcome == "duplicate":
        yield f"dropped, found by {fate.stage} ({_likeness(fate)}), as a duplicate of"
        yield f"  {plain(fate.original_url or '')} (page {fate.original})"
    elif fate.original_job is not None:
        yield f"dropped, found by {fate.stage} ({_likeness(fate)}), as a duplicate of"
        place = f"page {fate.original} of {fate.original_job}, an earlier crawl"
        yield f"  {plain(fate.original_url or '')} ({plain(place)})"
        yield f"  which fetched it {_time(fate.original_seen_at or 0)}"
    elif fate.outcome == "skipped":
        what = "fetched" if fate.reason in LEFT_OUT else "compared"
        yield f"not {what}: {reason_words(fate.reason or '')} ({plain(fate.reason)})"
        if fate.detail:
            yield f"  {plain(fate.detail)}"
        yield f"  {remedy(fate.reason or '')}"
    elif fate.outcome == "waiting":
        yield "waiting: fetched, but not judged until more is known of its site;"
        yield "  judged at the latest when the crawl ends"
    elif fate.outcome == "alias":
        yield f"not fetched separately: it {_ALIASES[fate.kind or '']}"
        yield f"  {plain(fate.page_url)}"
    else:
        yield from _unrecorded(fate)


def _likeness(fate: Fate) -> str:
    figures = []
    if fate.distance is not None:
        figures.append(f"distance {fate.distance} bit{'' if fate.distance == 1 else 's'}")
    if fate.resemblance is not None:
        figures.append(f"resemblance {fate.resemblance:.3f}")
    return ", ".join(figures) or "equal"


def _apart(fate: Fate) -> Iterator[str]:
    if fate.apart is None:
        return
    yield "its text resembles that of"
    yield f"  {plain(fate.apart.original_url or '')} (page {fate.apart.original})"
    if fate.apart.lines:
        yield "but the second look kept it for its own lines:"
        yield from (f"  “{plain(line)}”" for line in fate.apart.lines)
    else:
        yield "but the second look kept it for content outside the text; no lines were recorded"


def _unrecorded(fate: Fate) -> Iterator[str]:
    if fate.outcome == "queued":
        yield "still queued: seen but not fetched yet"
        if fate.waits_for:
            yield "deferred to the end of the crawl:"
            yield f"  {plain(fate.waits_for)}"
    elif fate.outcome == "too_deep":
        yield "excluded by DEPTH_LIMIT; rerun the crawl with a higher limit to fetch it"
    elif fate.outcome == "done":
        yield "processed; no separate record"
    elif fate.is_row:
        yield "not found: no row of the collection has this id or URL"
    else:
        yield (
            "never seen: no fetched page links to it, or the link was out of scope, left out by"
            " allow or deny, to a file that is not a page, or marked nofollow"
            " (DEDUP_ROBOTS_META_OBEY=0 follows those)"
        )
    if fate.nearest:
        yield "rows with the most similar names:" if fate.is_row else "most similar known URLs:"
        yield from (f"  {plain(each)}" for each in fate.nearest)


def stages_table(reports: Iterable[StageReport]) -> RenderableType:
    """What each stage found and decided, with the most similar candidates."""
    return _by_stage((report.stage, _stage(report)) for report in reports)


def _by_stage(rows: Iterable[tuple[str, RenderableType]]) -> RenderableType:
    columns = Column(no_wrap=True), Column(overflow="fold")
    table = Table(*columns, box=None, show_header=False, pad_edge=False)
    for stage, words in rows:
        table.add_row(Text(stage), words)
    return Padding(table, (0, 0, 0, 2), expand=False)


def _stage(report: StageReport) -> RenderableType:
    words = Text(plain(report.words))
    if isinstance(report.signature, str):
        words.append(f"  {report.signature}", "dim")
    lines: list[RenderableType] = [words]
    lines += [_candidate(each) for each in report.candidates[:_SHOWN_CANDIDATES]]
    if report.count > _SHOWN_CANDIDATES:
        lines.append(Text(f"… and {report.count - _SHOWN_CANDIDATES:,} more, less similar", "dim"))
    if report.match is not None:
        lines.append(Text(f"→ duplicate of page {report.match.original}", "bold"))
    elif report.is_asked and report.count:
        lines.append(Text("→ none is a duplicate"))
    return Group(*lines)


def _candidate(candidate: Candidate) -> Text:
    text = Text(f"page {candidate.number}  {plain(candidate.url)}\n", overflow="fold")
    text.append(f"  {plain(candidate.comparison.words)}; {plain(candidate.verdict.words)}")
    look = candidate.verdict.look
    for line in look.lines if look is not None else ():
        text.append(f"\n  only here: “{plain(line)}”")
    return text


def comparisons_table(comparisons: Iterable[Comparison]) -> RenderableType:
    """How each stage compares a pair, with both signatures."""
    return _by_stage((comparison.stage, _comparison(comparison)) for comparison in comparisons)


def _comparison(comparison: Comparison) -> Text:
    words = Text(plain(comparison.words))
    if comparison.is_candidate is None:
        return Text("not applicable: ") + words
    words.append(": a candidate" if comparison.is_candidate else ": no candidate", "bold")
    for signature in (comparison.first, comparison.second):
        if isinstance(signature, str):
            words.append(f"\n{signature}", "dim")
    if comparison.stage == "sentences":
        words.append_text(_sentences(comparison))
    return words


def _sentences(comparison: Comparison) -> Text:
    text = Text()
    shared = set(comparison.first) & set(comparison.second)
    for mark, sentences in (("1", comparison.first), ("2", comparison.second)):
        for sentence in sentences:
            both = "both" if sentence in shared else mark
            if not (both == "both" and mark == "2"):
                text.append(f"\n{both}: {plain(sentence[:_SENTENCE])}…", "dim")
    return text


def origin_text(origin: TextOrigin) -> Text:
    """The origin of a page's text, and a line for each box that is not part of it."""
    lines = [_ORIGINS.get(origin.source, f"text of {plain(origin.source)!r}")]
    if origin.box is None and origin.n_names:
        lines.append(f"{origin.n_names:,} pages of its site were counted; its body was not kept,")
        lines.append("  so the boxes left out of this page's text are unknown")
    elif origin.box is not None:
        told = f"by {origin.n_names:,} counted pages of its site"
        lines[0] = f"text of {plain(origin.box)}, {told}"
        if not origin.is_as_read:
            lines.append("it was read when less was known; read now, its text would differ")
        if origin.own_share is not None:
            lines.append(
                f"the text has {origin.own_share:.0%} of the page's words that are rare on its site"
            )
        if not origin.left_out and not origin.words_elsewhere:
            lines.append("nothing was left out")
        lines += [f"left out: {plain(str(each))}" for each in origin.left_out[:_SHOWN_BOXES]]
        if len(origin.left_out) > _SHOWN_BOXES:
            lines.append(f"… and {len(origin.left_out) - _SHOWN_BOXES:,} more: --json")
        if origin.words_elsewhere:
            lines.append(
                "left out elsewhere, outside boxes of several lines:"
                f" {origin.words_elsewhere:,} words"
            )
    lines += _rendering(origin.how_read, origin.spared_in)
    return Text("\n".join(f"  {line}" for line in lines), overflow="fold")


def _rendering(read: HowRead | None, spared_in: int) -> Iterator[str]:
    if read is None:
        return
    why = reading_words(read.why)
    took = f", in {read.seconds:.1f} s" if read.seconds else ""
    yield f"{'rendered' if read.is_rendered else 'not rendered'}{took}: {plain(why)}"
    if spared_in:
        yield f"not rendered again in refresh {spared_in}: all that it is made from was the same"


_ALIASES = {
    "redirect": "redirects to",
    "route": "is a place in a page without scripts,",
    "canonical": "is named as canonical by",
}
_ORIGINS = {
    "given": "text as given, or from the extractor",
    "box": "text of a box, chosen by what its site repeats",
    "document": "text of a document that is not HTML",
    "landmark": "text of what the page declares as its main content: nothing was known of its site",
    "page": "text by general rules: nothing was known of its site, so it may include what the"
    " site repeats",
    "state": "text of the data from which scripts make the page: it needs a browser, and is no"
    " page's duplicate",
    "shell": "text before scripts run: the page needs a browser, and is no page's duplicate",
}


def document_line(document: Document) -> str:
    return (
        f"{len(document.text):,} characters, {len(document.shingles):,} shingles of"
        f" {'5 characters' if document.is_unspaced else '3 words'}"
    )


def marked(parts: Iterable[Part]) -> Text:
    """Differences of two texts, marked as in `wdiff`, so that they show without colours too.

    Stops after about 1,500 characters.
    """
    text = Text(overflow="fold")
    for part in parts:
        if len(text) > _MARKED:
            text.append("\n… and more: see --json, or the pair in the report", "dim")
            break
        if isinstance(part, int):
            text.append(f" […{part:,} characters…] ", "dim")
        elif isinstance(part, str):
            text.append(plain(part, lines=True))
        else:
            first, second = (plain(each, lines=True) for each in part)
            if first:
                text.append(f"[-{first}-]", "red")
            if second:
                text.append(f"{{+{second}+}}", "green")
    return text
