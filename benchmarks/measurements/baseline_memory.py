"""What an earlier crawl of a million pages takes: time to load it, and memory while and after.

Run: python benchmarks/measurements/baseline_memory.py [--pages 1000000] [--index-mb 64]

Fills the store of a job with random signatures of the default detectors, whose texts are never
read, and opens a judge on top of it, as a crawl with `DEDUP_BASELINE` does: in a process of its
own for each bound. Prints seconds of CPU, and the memory of the process in MB: its own, the pages
of files that it has mapped, and the peak of both.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dedup.config import DedupConfig
from dedup.deduplicator import Deduplicator
from dedup.scrapy.job.baseline import Baseline
from dedup.store import Page, job_exists, open_store

_AT_ONCE = 10_000
_TEXT = " ".join(f"word{number}" for number in range(200))


def fill(folder: Path, n_pages: int) -> int:
    """Store pages; return the size of the file."""
    page = Page(id="", text=_TEXT, url="http://site.example/", source="given", fetched_at=1.0)
    sample = Deduplicator().signatures(page)
    random = np.random.default_rng(1)
    with open_store(folder, group_units=_AT_ONCE, group_seconds=3600) as store:
        Deduplicator(store=store)  # for its schemes
        store.set_meta("started", "1.0")
        for start in range(0, n_pages, _AT_ONCE):
            count = min(_AT_ONCE, n_pages - start)
            made = {stage: random.bytes(count * len(each)) for stage, each in sample.items()}
            for n in range(count):
                signatures = {
                    stage: made[stage][n * len(each) : (n + 1) * len(each)]
                    for stage, each in sample.items()
                }
                store.add(page, signatures)
    return sum(each.stat().st_size for each in folder.iterdir())


def load(folder: Path, index_mb: int | None) -> str:
    """Open a judge on top of the job; return what it took."""
    with tempfile.TemporaryDirectory(prefix="dedup-") as own:
        before = time.process_time()
        earlier = open_store(folder, read_only=True)
        with open_store(own) as store:
            bound = DedupConfig().index_bytes if index_mb is None else index_mb << 20
            config = DedupConfig(index_bytes=bound, index_folder=Path(own))
            began = memory()
            judge = Deduplicator(store=Baseline(store, ["first"], [earlier]).layers, config=config)
            seconds = time.process_time() - before
            found = judge.find(Page(id="", text="another " + _TEXT, url="http://b.example/"))
            assert found is None, found
            now = memory()
        earlier.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    bound = "none" if index_mb is None else f"{index_mb} MB"
    return (
        f"bound {bound}: {seconds:.1f} s; at first {began[0]} MB; then {now[0]} MB"
        f" and {now[1]} MB of files; peak {peak} MB; index {judge.size_bytes >> 20} MB"
    )


def memory() -> tuple[int, int]:
    """Memory of this process, and pages of files that it has mapped, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    sizes = {
        name: value.split()[0]
        for name, _, value in (line.partition(":") for line in lines)
        if name.startswith("Rss")
    }
    return int(sizes["RssAnon"]) >> 10, int(sizes["RssFile"]) >> 10


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--index-mb", type=int, nargs="*", default=[64])
    parser.add_argument("--job", type=Path, help="use this job, filled if it is not there")
    parser.add_argument("--load", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load is not None:
        print(load(options.job, int(options.load) if options.load != "none" else None))
        return
    with tempfile.TemporaryDirectory(prefix="dedup-") as temporary:
        job = options.job or Path(temporary)
        if not job_exists(job):
            print(f"{options.pages:,} pages: {fill(job, options.pages) >> 20} MB")
        for bound in ["none", *options.index_mb]:
            command = [sys.executable, __file__, "--job", str(job), "--load", str(bound)]
            print(
                subprocess.run(command, check=True, capture_output=True, text=True).stdout, end=""
            )


if __name__ == "__main__":
    main()
