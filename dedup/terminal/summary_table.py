"""A job's account as a table on the terminal."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from dedup.preferences.uses import is_refusal
from dedup.store.records import EARLIER
from dedup.terminal.plain import plain

_EARLIER_CRAWL = "duplicates: in an earlier crawl"

_FIELDS = 5
"""The maximum number of fields that are named."""


def summary_table(account: Mapping[str, Any], job: Path | str | None) -> RenderableType:
    """Pages and bytes: fetched = unique + duplicates by stage + skipped by reason + waiting.

    `account` is the content of `stats.json`, or the part of it from `summarise`. For a job of
    `dedup run` it has `collection`; at the end of a crawl, `outside`: sentences about other hosts.
    If it has `items`, these are counted: in = kept + dropped by stage + removed by other pipelines.
    `job` is the job's folder, or its address in a database; None: the job ends with the crawl.
    """
    if items := account.get("items"):
        return Group(_item_table(items), Text("\n".join(_lines(account, job))))
    counts, sizes = account["pages"], account["bytes"]
    (whole, n_whole, whole_bytes), *parts = parts_of(account)
    if counts.get("waiting"):
        parts.append(("waiting to be read", counts["waiting"], sizes["waiting"]))
    unit = "pages"
    if account.get("collection"):
        whole = unit = "rows"
    rows = [(whole, n_whole, whole_bytes)]
    rows += [(f"  {name}", count, size_bytes) for name, count, size_bytes in parts]
    shown = [(name, f"{count:,}", f"{size / 1e6:,.2f}") for name, count, size in rows]
    return Group(counts_table(("", unit, "MB"), shown), Text("\n".join(_lines(account, job))))


def parts_of(account: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Pages and bytes: the total of what was fetched, then its parts except waiting pages."""
    pages, sizes = account["pages"], account["bytes"]
    for name in ("fetched", "unique"):
        yield name, pages[name], sizes[name]
    for kind in ("duplicates", "skipped"):
        for name, count in pages[kind].items():
            shown = _EARLIER_CRAWL if name == EARLIER else f"{kind}: {name}"
            yield shown, count, sizes[kind][name]


def counts_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of names and numbers. Names are untrusted text."""
    columns = [Column(Text(plain(heading)), justify="right") for heading in headings]
    columns[0].justify = "left"
    table = Table(*columns, box=None, pad_edge=False)
    for name, *numbers in rows:
        table.add_row(Text(plain(name)), *numbers)
    return table


def _item_table(items: Mapping[str, Any]) -> Table:
    rows = [("in", items["in"]), ("  kept", items["kept"])]
    rows += [(f"  dropped: {stage}", count) for stage, count in items["dropped"].items()]
    if items["lost"]:
        rows.append(("  removed by other pipelines", items["lost"]))
    return counts_table((items["spider"], "items"), [(name, f"{count:,}") for name, count in rows])


def _item_lines(items: Mapping[str, Any]) -> Iterator[str]:
    if told := items["told_apart"]:
        have, were = ("item has", "was") if told == 1 else ("items have", "were")
        yield f"{told:,} {have} the same text as another but {were} kept because {_differ(items)}"
    if dropped := sum(items["dropped"].values()):
        first = [f"  {plain(each)}" for each in items["first"]]
        more = "" if dropped == len(first) else f"; the first {len(first)}"
        yield "\n".join((f"{dropped:,} {'was' if dropped == 1 else 'were'} dropped{more}:", *first))
    if items["no_text"]:
        yield (
            "kept without comparison because they have no text or no readable fields:"
            f" {items['no_text']:,}  (DEDUP_ITEM_TEXT_FIELDS names the fields that hold the text)"
        )


def _differ(items: Mapping[str, Any]) -> str:
    """The fields by which items differ, those of most items first."""
    counts = sorted(items["told_by"].items(), key=lambda pair: (-pair[1], pair[0]))
    names = [f"`{plain(name)}`" for name, _ in counts]
    if len(names) == 1:
        return f"{names[0]} differs"
    shown = ", ".join(
        f"{name} ({count:,})" for name, (_, count) in zip(names[:_FIELDS], counts, strict=False)
    )
    return f"fields differ: {shown}" + (", …" if len(names) > _FIELDS else "")


def _lines(account: Mapping[str, Any], job: Path | str | None) -> Iterator[str]:
    items = account.get("items")
    if items:
        yield from _item_lines(items)
    if kept := account.get("kept_apart"):
        yield f"kept by the second look for their own lines: {kept:,} of the unique pages"
    yield from _rendered(account.get("rendering") or {})
    yield from _shells(account, job)
    if account["failed"]:
        reasons = ", ".join(f"{plain(name)} {count:,}" for name, count in account["failed"].items())
        yield f"not fetched: {reasons}"
    if unreachable := account["failed"].get("host_unreachable"):
        yield (
            f"{unreachable:,} URLs are left on hosts that became unreachable; dedup retry {job}"
            " requeues them"
        )
    urls = account.get("urls")
    if urls and not account.get("collection"):  # a collection has no links
        n_nofollow = urls.get("nofollow")
        nofollow = f" {n_nofollow:,} nofollow links not followed," if n_nofollow else ""
        yield (
            f"URLs: {urls['seen']:,} seen, {urls['filtered']:,} links to seen URLs filtered,"
            f"{nofollow} {urls['aliases']:,} aliases, {urls['queued']:,} still queued"
        )
        if n_deep := urls.get("too_deep"):
            yield (
                f"excluded by DEPTH_LIMIT: {n_deep:,} URLs; rerun with a higher limit to fetch them"
            )
    yield from _refusals(account.get("preferences", {}))
    yield from map(plain, account.get("outside", ()))
    if refresh := account.get("refresh"):
        found = [f"{count:,} {name}" for name, count in refresh.items() if name != "number"]
        yield f"refresh {refresh['number']}: {', '.join(found) or 'nothing visited yet'}"
        if n_failed := refresh.get("failed"):
            yield (
                f"visits that failed: {n_failed:,}; these pages stay as they are, and the next"
                " refresh tries them again (dedup why tells the reason)"
            )
    yield from _freshness(account.get("freshness", {}))
    if "rates" in account:
        rates = account["rates"]
        speed, unit = rates["pages_per_second"], "pages"
        if items:
            speed, unit = items["in"] / rates["seconds"], "items"
        yield f"{speed:,.1f} {unit}/s in {rates['seconds']:,.1f} s"
    if job is None:
        return
    if "reason" in account and account["reason"] != "finished":
        yield f"stopped: {account['reason']}; {_way_on(account)}"
    if isinstance(job, Path) and (report := job / "report.html").exists():
        yield f"report: {report}"
    yield f"job: {job}"
    yield from _next_commands(account, job)


def _shells(account: Mapping[str, Any], job: Path | str | None) -> Iterator[str]:
    """What is known of pages whose text scripts make."""
    if count := account.get("needs_rendering"):
        have, show = ("page has", "it needs") if count == 1 else ("pages have", "they need")
        line = f"{count:,} unique {have} no text before scripts run: {show} a browser to be read"
        if job is not None:
            command = f"{shell_command('dedup')} export {quote(str(job))}"
            line += f"; {command} --fields url,needs_rendering tells which"
        yield line
        if not account.get("rendering"):
            yield "a new crawl with -s DEDUP_RENDER=auto (dedup crawl --render auto) renders them"


def _rendered(rendering: Mapping[str, Any]) -> Iterator[str]:
    """How many pages were rendered, and why others were not."""
    if not rendering:
        return
    parts = [
        f"{name} {count:,}"
        for kind in ("rendered", "raw")
        for name, count in rendering[kind].items()
    ]
    n_rendered = sum(rendering["rendered"].values())
    yield (
        f"rendered: {n_rendered:,} pages, {rendering['compared']:,} read both ways,"
        f" {rendering['seconds']:,.1f} s ({', '.join(parts)})"
    )
    if n_spared := rendering.get("spared"):
        yield f"not rendered again: {n_spared:,} pages, as all that they are made from is the same"
    for kind, what_next in (
        ("failed", "dedup retry has them rendered again"),
        ("later", "they come again when the crawl goes on and nothing else is left"),
    ):
        if counts := rendering[kind]:
            reasons = ", ".join(f"{plain(name)} {count:,}" for name, count in counts.items())
            yield f"could not be rendered: {reasons}; {what_next}"


def _freshness(found: Mapping[str, Any]) -> Iterator[str]:
    """How fresh the stored pages are."""
    if not found or found["estimated"] is None:
        return
    hours = found["age_seconds"] / 3_600
    line = (
        f"freshness: {found['estimated']:.1%} of the pages are up to date by their rates of change"
    )
    if found["measured"] is not None:
        line += f", {found['measured']:.1%} were on average by the last {found['visits']:,} visits"
    yield f"{line}; visited {hours:,.1f} h ago on average"


def _next_commands(account: Mapping[str, Any], job: Path | str) -> Iterator[str]:
    """The commands that show and export what a job found."""
    dedup, quoted = shell_command("dedup"), quote(str(job))
    if account["pages"]["unique"] and not account.get("collection"):
        yield f"next: {dedup} report {quoted}"
        yield f"      {dedup} export {quoted} -o pages.jsonl"


def _refusals(preferences: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What pages and hosts declare that their content is not to be used for."""
    for of, counts in preferences.items():
        found = [f"{plain(name)} ({n:,})" for name, n in counts.items() if is_refusal(name)]
        if found:
            more = ", …" if len(found) > _FIELDS else ""
            yield f"uses refused by {of}: {', '.join(found[:_FIELDS])}{more}"


def _way_on(account: Mapping[str, Any]) -> str:
    reason = account["reason"]
    if account.get("refresh") and reason in ("max_pages", "closespider_timeout"):
        return "the next refresh chooses anew what to visit"
    if reason == "max_pages":
        return "rerun with a higher max_pages, or without it, to resume"
    return "rerun the same command to resume"


def shell_command(name: str) -> str:
    """A command as users type it: after `uv run` if this process was started so."""
    return f"uv run {name}" if os.environ.get("UV_RUN_RECURSION_DEPTH") else name
