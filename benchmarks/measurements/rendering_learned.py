"""When is it found out that a template's pages need a browser, and what does that cost?

    python benchmarks/measurements/rendering_learned.py [--pages 240 1000 5000] [--orders 50]

Two sites of one template whose pages have a lead of their own in any case: `turning`, of which the
scripts make the rest of each page after half of them, and `thirtieth`, of which they do so for one
page in thirty. No browser runs: what it would find is known. Pages come in random orders. Median,
and the ninetieth percentile where the name ends in p90:

needed: pages whose rest is made by scripts
found: orders in which that was found out
unseen: pages with such a rest that were read without it before; they are rendered in the end
incomplete: those that are stored without their rest in the end
rendered: pages that were rendered in all, in the first pass or again
"""

import argparse
import random
import sys
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.rendering.records import Record
from benchmarks.rendering.server import TurningSite
from benchmarks.tables import print_section, wide_console
from dedup.html.bounds import bounded
from dedup.rendering.learner import HostTemplates
from dedup.rendering.sketch import RawTemplate
from dedup.rendering.template import template_of

_EVERY = {"turning": 0, "thirtieth": 30}


class _Run(NamedTuple):
    needed: int
    unseen: int | None
    incomplete: int
    rendered: int


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, nargs="+", default=[240, 1_000, 5_000], metavar="N")
    parser.add_argument("--orders", type=int, default=50, metavar="N")
    options = parser.parse_args()
    for name, every in _EVERY.items():
        rows = [_row(every, count, options.orders) for count in options.pages]
        print_section(wide_console(), name, rows)


def _row(every: int, count: int, orders: int) -> dict[str, object]:
    runs = [_run(every, count, seed) for seed in range(orders)]
    unseen = [run.unseen for run in runs if run.unseen is not None]
    return {
        "pages": count,
        "needed": runs[0].needed,
        "found": f"{len(unseen)} of {orders}",
        "unseen": median(unseen) if unseen else None,
        "unseen_p90": float(np.quantile(unseen, 0.9)) if unseen else None,
        "incomplete": median(run.incomplete for run in runs),
        "incomplete_p90": float(np.quantile([run.incomplete for run in runs], 0.9)),
        "rendered": median(run.rendered for run in runs),
    }


def _run(every: int, count: int, seed: int) -> _Run:
    pages = _raw_pages(every, count, seed)
    templates = HostTemplates()
    rendered, unseen = 0, None
    read_raw: list[tuple[int, bool]] = []
    for raw, is_scripted in pages:
        choice = templates.choose(raw, "full", is_copy=lambda: False)
        if not choice.is_rendered or choice.template is None:
            read_raw.append((choice.period, is_scripted))
            continue
        rendered += 1
        if templates.learn(choice, is_same=not is_scripted):
            if unseen is None:
                unseen = sum(scripted for _, scripted in read_raw)
            kept = [each for each in read_raw if each[0] < choice.template.since]
            rendered += len(read_raw) - len(kept)  # which are fetched again
            read_raw = kept
    needed = sum(is_scripted for _, is_scripted in pages)
    return _Run(needed, unseen, sum(scripted for _, scripted in read_raw), rendered)


def _raw_pages(every: int, count: int, seed: int) -> list[tuple[RawTemplate, bool]]:
    """The template of each page, and whether it lacks its rest, in the order of a seed."""
    records = [
        Record(f"p-{number}", f"Title {number}", "", ("lead", "more", "rest", "end"))
        for number in range(count)
    ]
    site = TurningSite(records, every=every, until=2)
    paths = [f"/page/{each.slug}.html" for each in records]
    random.Random(seed).shuffle(paths)
    bodies = {path: site.answer(path, "").body.decode() for path in paths}
    truth = site.pages
    return [(_template(bodies[path]), truth[path].scripted) for path in paths]


@cache
def _template(html: str) -> RawTemplate:
    return template_of(bounded(html))


if __name__ == "__main__":
    main()
