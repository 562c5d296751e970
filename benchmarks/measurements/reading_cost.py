"""CPU milliseconds to read a page, by stage: `reading_cost.py FOLDER [--before PYTHON CHECKOUT]`.

FOLDER holds the HTML files of one site, of which 400 are read. With `--before`, the code of another
checkout takes turns with this one in the same run, each by its own copy of this file; medians of
five rounds.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

_MEASURE = """
import json, sys, time
from pathlib import Path
from dedup.scrapy.reading.content import ContentReader, RawPage, Wanted
from dedup.config import DedupConfig
from dedup.html import bounded, decode, parse_page
from dedup.html.page_text import page_text
from dedup.html.unfolding import page_outline
from dedup.sites.site import Site, learn

names = json.load(sys.stdin)
pages = [(Path(name).read_bytes(), "http://127.0.0.1/" + name) for name in names]
counted = []
for body, url in pages:
    page = bounded(decode(body, "text/html").text)
    if box := page_outline(page):
        counted.append((box, parse_page(page, url).title, url))
site = Site(learn(counted), version=1)
stages = ("body", "text", "sentences", "simhash", "minhash")
reader = ContentReader(Wanted("content", True, True, True, stages, DedupConfig()))
spent = dict.fromkeys(["decode", "parse", "text", "signatures", "all"], 0.0)
clock = time.process_time
for body, url in pages:
    start = clock()
    decoded = decode(body, "text/html")
    page = bounded(decoded.text)
    a = clock()
    parsed = parse_page(page, url)
    parsed.links()
    b = clock()
    said = page_text(page, parsed.title, url=url, site=site)
    c = clock()
    raw = RawPage(body, url, "text/html", ())
    reader._features(raw, parsed, said)
    d = clock()
    reader.read(raw, site)
    e = clock()
    for name, value in zip(spent, (a - start, b - a, c - b, d - c, e - d)):
        spent[name] += value / len(pages) * 1e3
print(json.dumps(spent))
"""


def measured(python: str, checkout: Path, names: list[str]) -> dict[str, float]:
    command = [
        python,
        "-c",
        "from benchmarks.measurements import reading_cost as r; exec(r._MEASURE)",
    ]
    done = subprocess.run(
        command,
        input=json.dumps(names),
        stdout=subprocess.PIPE,
        text=True,
        cwd=checkout,
        check=True,
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", nargs=2, metavar=("PYTHON", "CHECKOUT"))
    options = parser.parse_args()
    names = sorted(str(path.resolve()) for path in options.folder.rglob("*.html"))
    names = random.Random(1).sample(names, min(400, len(names)))
    sides = {"now": (sys.executable, Path(__file__).parents[2])}
    if options.before:
        sides["before"] = (options.before[0], Path(options.before[1]))
    rounds: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(5):
        for side, (python, checkout) in sides.items():
            rounds[side].append(measured(python, checkout, names))
    for side, found in rounds.items():
        medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
        print(side, ", ".join(f"{name} {value:.2f}" for name, value in medians.items()))


if __name__ == "__main__":
    main()
