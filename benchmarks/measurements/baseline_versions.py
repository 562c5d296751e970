"""Are crawls of a manual's versions, each on top of the earlier ones, equal to one crawl of all?

Run: python -m benchmarks.measurements.baseline_versions FOLDER VERSION VERSION…

Serves FOLDER on loopback. Crawls the HTML files of each VERSION, a path in it, in the order of
their paths, with the crawls of the versions before as `DEDUP_BASELINE`; then those of all versions
with one crawl. Prints for each version how many pages were fetched and kept, and which of them only
one of both has kept, with what the other one dropped them for.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer
from dedup.store import open_store


def crawl(folder: Path, name: str, urls: Sequence[str], earlier: Sequence[str] = ()) -> None:
    """Crawl a list of pages one after the other, in a folder of jobs."""
    path = folder / f"{name}.txt"
    path.write_text("\n".join(urls), encoding="utf-8")
    command = [sys.executable, "-m", "dedup.cli", "crawl", "--urls", str(path), "--job", name]
    for setting in (
        f"DEDUP_BASELINE={','.join(f'crawls/{each}' for each in earlier)}",
        "CONCURRENT_REQUESTS=1",
        "ROBOTSTXT_OBEY=0",
        "LOG_LEVEL=WARNING",
    ):
        command += ["-s", setting]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def verdicts(folder: Path, name: str, urls: Sequence[str]) -> tuple[set[str], dict[str, str]]:
    """The pages that a job has kept, of a list, and for what it has dropped others."""
    with open_store(folder / "crawls" / name, read_only=True) as store:
        kept = {row["url"] for row in store.exports.pages()}
        dropped = {
            row["url"]: f"{row['duplicate_of_url']} ({row['stage']})"
            for row in store.exports.duplicates()
        }
    return kept.intersection(urls), dropped


def compare(folder: Path, name: str, urls: Sequence[str]) -> None:
    kept, dropped = verdicts(folder, name, urls)
    kept_by_one, dropped_by_one = verdicts(folder, "all", urls)
    fetched = len(kept) + sum(url in dropped for url in urls)
    print(f"{name}: {fetched} pages; kept {len(kept)}, by one crawl of all {len(kept_by_one)}")
    for only, other, who in (
        (kept - kept_by_one, dropped_by_one, "on top"),
        (kept_by_one - kept, dropped, "one crawl"),
    ):
        print(f"  only {who}: {len(only)}")
        for url in sorted(only):
            print(f"    {url} | {other.get(url)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    options = parser.parse_args()
    names = [each.replace("/", "-") for each in options.versions]
    with SiteServer(SiteFolder(options.folder)) as server, TemporaryDirectory() as temporary:
        lists = [
            [
                server.url + file.relative_to(options.folder).as_posix()
                for file in sorted((options.folder / version).rglob("*.html"))
            ]
            for version in options.versions
        ]
        for at, (name, urls) in enumerate(zip(names, lists, strict=True)):
            crawl(Path(temporary), name, urls, names[:at])
        crawl(Path(temporary), "all", [url for urls in lists for url in urls])
        for name, urls in zip(names, lists, strict=True):
            compare(Path(temporary), name, urls)


if __name__ == "__main__":
    main()
