"""Refreshes of applications that a browser renders: with each page rendered, and without.

    python benchmarks/measurements/rendering_refresh.py BUILT [--sites react svelte]
        [--changed 10] [-s NAME=VALUE]

BUILT is made by `python -m benchmarks.rendering.build BUILT --data DATA`. Each site is copied and
crawled (DEDUP_RENDER=auto), and refreshed:

rendered: what pages were made from has been deleted from the store, so that each is rendered
first: the first refresh in which pages are compared; it renders one to see whether it is the same
same: nothing has changed
changed: the JSON of some pages has; of a site with one file for all, that file
rebuilt: its scripts have

Prints one JSON object a refresh: seconds, CPU seconds of all its processes, requests that the
server got, pages that were rendered (by what a browser asked for), and what the visits found. It
fails if a change was not told, or another page was told as changed.
"""

import argparse
import json
import os
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.crawl.run import measure
from benchmarks.rendering.server import BuiltSite, LoggedServer
from benchmarks.rendering.truth import SITE
from dedup.store import STORE_NAME

_WORD = "rewritten"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("built", type=Path, metavar="BUILT")
    parser.add_argument("--sites", nargs="+", default=["react", "svelte"], metavar="NAME")
    parser.add_argument("--changed", type=int, default=10, metavar="PAGES")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    for name in options.sites:
        with TemporaryDirectory(prefix="rendering-refresh-") as made:
            folder = Path(made)
            shutil.copytree(options.built / name, folder / name)
            _refresh_all(folder / name, folder, options.changed, options.settings)


def _refresh_all(site: Path, folder: Path, n_changed: int, settings: list[str]) -> None:
    def nothing() -> int:
        return 0

    steps: list[tuple[str, Callable[[], int]]] = [
        ("crawl", nothing),
        ("rendered", lambda: _forget(folder)),
        ("first", nothing),
        ("same", nothing),
        ("changed", lambda: _rewrite(site / SITE, n_changed)),
        ("rebuilt", lambda: _rebuild(site / SITE)),
        ("same", nothing),
    ]
    with LoggedServer(BuiltSite(site)) as server:
        command = [sys.executable, "-m", "dedup.cli", "crawl", server.url, "--job", "job"]
        command += [part for each in ("DEDUP_RENDER=auto", *settings) for part in ("-s", each)]
        for number, (name, change) in enumerate(steps):
            expected = change()
            server.log.requests.clear()
            cost = measure([*command, *(["--refresh"] if number else [])], folder)
            errors = (folder / "errors.txt").read_text(errors="replace")
            if cost["status"]:
                raise SystemExit(f"{name}: status {cost['status']}: {errors}")
            found = _outcomes(folder) if number else Counter[str]()
            if number and found["changed"] != expected:
                raise SystemExit(f"{name}: {expected} pages changed, told {dict(found)}")
            figures: dict[str, Any] = {
                "site": site.name,
                "refresh": name,
                "seconds": round(cost["ended"] - cost["began"], 1),
                "cpu_seconds": round(cost["cpu_seconds"], 1),
                "requests": len(server.log.requests),
                "rendered": _n_rendered(folder, number),
                "found": dict(found),
                "load": [round(each, 1) for each in os.getloadavg()[:1]],
            }
            print(json.dumps(figures), flush=True)


def _forget(folder: Path) -> int:
    with _job(folder) as job:
        job.execute("DELETE FROM inputs")
    return 0


def _rewrite(site: Path, count: int) -> int:
    """Change the text of some articles that have no copies; return how many."""
    articles = sorted(site.glob("api/article/*.json"))
    for path in (each for each in articles if _is_alone(each.stem, {at.stem for at in articles})):
        if not count:
            break
        path.write_text(json.dumps(_rewritten(json.loads(path.read_text()))))
        count -= 1
    if articles:
        return sum(_WORD in each.read_text() for each in articles)
    whole = site / "content.json"
    rows = json.loads(whole.read_text())
    slugs = {row["slug"] for row in rows}
    alone = [row for row in rows if _is_alone(row["slug"], slugs)][:count]
    for row in alone:
        row |= _rewritten(row)
    whole.write_text(json.dumps(rows))
    return len(alone)


def _is_alone(slug: str, slugs: set[str]) -> bool:
    return not slug.endswith("-copy") and f"{slug}-copy" not in slugs


def _rewritten(article: dict[str, Any]) -> dict[str, Any]:
    paragraphs = [f"{_WORD} {each}" for each in article["paragraphs"]]
    return {**article, "paragraphs": paragraphs}


def _rebuild(site: Path) -> int:
    """Give the scripts other bytes under the same names."""
    for path in site.rglob("*.js"):
        with path.open("a") as script:
            script.write("\n// another build\n")
    return 0


def _outcomes(folder: Path) -> Counter[str]:
    query = (
        "SELECT outcome FROM visits WHERE url <> '' AND refresh = (SELECT max(refresh) FROM visits)"
    )
    with _job(folder) as job:
        return Counter(outcome for (outcome,) in job.execute(query))


def _n_rendered(folder: Path, refresh: int) -> int:
    """Of a crawl that has visited all pages."""
    with _job(folder) as job:
        (rendered,) = job.execute("SELECT count(*) FROM rendering WHERE is_rendered").fetchone()
        query = "SELECT count(*) FROM inputs WHERE spared = ? AND spared > 0"
        (spared,) = job.execute(query, (refresh,)).fetchone()
    return int(rendered) - int(spared)


def _job(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "crawls" / "job" / STORE_NAME)


if __name__ == "__main__":
    main()
