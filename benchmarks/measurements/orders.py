"""How many verdicts hang on the order of arrival: `orders.py JOB`, a finished crawl of one site.

The site must still be served. Its pages are fetched in three random orders, one after the other,
and each verdict is compared with that of the first order. Where the two differ in which of several
copies was kept, the verdict counts as the same.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from dedup.store import open_store

_OPTIONS = ["-s", "CONCURRENT_REQUESTS=1", "-s", "DEDUP_REPORT_ENABLED=0", "-s", "LOG_LEVEL=ERROR"]


def urls_of(job: Path) -> list[str]:
    with open_store(job, read_only=True) as store:
        found = [*store.exports.pages(), *store.exports.duplicates()]
    return sorted({str(each["url"]) for each in found})


def groups_of(job: Path) -> dict[str, frozenset[str]]:
    """Of each URL the pages that are the same to the crawl: an original and its duplicates."""
    with open_store(job, read_only=True) as store:
        original = {str(page["url"]): str(page["url"]) for page in store.exports.pages()}
        original |= {
            str(each["url"]): str(each["duplicate_of_url"]) for each in store.exports.duplicates()
        }
    groups: dict[str, set[str]] = {}
    for url, target in original.items():
        groups.setdefault(target, set()).add(url)
    return {url: frozenset(group) for group in groups.values() for url in group}


def main(job: Path) -> None:
    urls = urls_of(job)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for order in range(3):
            names = urls[:]
            random.Random(order).shuffle(names)
            listed = Path(folder, f"{order}.txt")
            listed.write_text("\n".join(names), encoding="utf-8")
            target = Path(folder, str(order))
            command = [sys.executable, "-m", "scrapy", "crawl", "urls", "-a", f"file={listed}"]
            subprocess.run([*command, *_OPTIONS, "-s", f"JOBDIR={target}"], check=True)
            found.append(groups_of(target))
            n_kept = len(set(found[-1].values()))
            print(f"order {order}: {len(urls):,} pages, {n_kept:,} kept")
    for order in (1, 2):
        differing = [url for url in urls if found[0].get(url) != found[order].get(url)]
        sizes = Counter(len(found[0].get(url, ())) for url in differing)
        print(f"orders 0 and {order}: {len(differing)} verdicts differ; group sizes {dict(sizes)}")
        for url in differing[:10]:
            print(" ", url, sorted(found[0].get(url, ())), sorted(found[order].get(url, ())))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
