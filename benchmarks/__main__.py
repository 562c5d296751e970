"""`python -m benchmarks index|fingerprint|urls|crawl|eval|site|sites|markdown`: all benchmarks."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import fingerprint, index, urls, whole_index
from benchmarks.crawl import command as crawl
from benchmarks.evaluation import command as evaluation
from benchmarks.evaluation import read_corpus
from benchmarks.markdown import command as markdown
from benchmarks.measure import PACKAGES, RUNS, environment, in_child, installed_versions
from benchmarks.sites import command as sites
from benchmarks.tables import print_environment, print_section, wide_console
from benchmarks.workload import Fingerprints
from dedup.cli.console import ERRORS
from dedup.errors import StateError
from dedup.store import open_store
from dedup.terminal.plain import plain

_SEED = 1

_LEAST_FINGERPRINTS = 3_000
"""With fewer, all are in the tail of the index, and its tables are not put to the test."""

_Section = tuple[str, Iterable[dict[str, Any]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; the exit status: 0, or 2 with one sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        options.execute(options)
    except (StateError, ValueError, OSError, ModuleNotFoundError) as error:
        print(f"benchmarks: {plain(error, lines=True)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Speed, memory and recall, beside other libraries."
    )
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    parts = kinds.add_parser("index", help="the index: find, insert, memory, recall")
    parts.add_argument(
        "--documents", type=_whole, default=1_000_000, metavar="N", help="default: 1,000,000"
    )
    parts.add_argument(
        "--sizes",
        type=_whole,
        nargs="*",
        default=[],
        metavar="N",
        help="more sizes for our index alone, such as 1e7 5e7 (50 million take 6 GB)",
    )
    parts.add_argument(
        "--rebuild", type=_whole, metavar="N", help="from a store of N (default: as --documents)"
    )
    parts.add_argument(
        "--only", choices=("whole",), help="measure the index of all stages, and nothing else"
    )
    parts.add_argument("--job", type=Path, metavar="JOB", help="check real fingerprints: a job's")
    parts.add_argument(
        "--corpus", type=Path, metavar="CORPUS", help="... or JSON Lines or a folder of pages"
    )
    parts.set_defaults(sections=_index_sections, packages=PACKAGES, runs=RUNS)
    texts = kinds.add_parser("fingerprint", help="from text to fingerprint")
    texts.add_argument(
        "--corpus", type=Path, nargs="*", default=[], metavar="CORPUS", help="real texts as well"
    )
    texts.set_defaults(sections=_fingerprint_sections, packages=PACKAGES, runs=RUNS)
    filters = kinds.add_parser("urls", help="the filter of URLs seen: checks, memory, errors")
    filters.add_argument(
        "--urls", type=_whole, default=1_000_000, metavar="N", help="default: 1,000,000"
    )
    filters.set_defaults(
        sections=_url_sections, packages=("numpy", "pybloom-live", "bitarray", "scrapy"), runs=3
    )
    for kind in (parts, texts, filters):
        kind.add_argument("--json", action="store_true", help="for machines")
        kind.set_defaults(execute=_execute)
    crawl.add_parser(kinds)
    evaluation.add_parser(kinds)
    sites.add_parsers(kinds)
    markdown.add_parser(kinds)
    return parser


def _execute(options: argparse.Namespace) -> None:
    made_on = environment(installed_versions(options.packages), seed=_SEED)
    console = wide_console()
    if not options.json:
        print_environment(console, made_on, options.runs)
    results: dict[str, object] = {"environment": made_on}
    for name, rows in options.sections(options):
        with ERRORS.status(name):
            results[name] = found = list(rows)
        if not options.json:
            print_section(console, name, found)
    if options.json:
        print(json.dumps(results, ensure_ascii=False, indent=2))


def _index_sections(options: argparse.Namespace) -> Iterator[_Section]:
    count, real = options.documents, _real_fingerprints(options)
    sizes = [count, *options.sizes]
    yield "the index of all stages", whole_index.by_size(sizes, _SEED)
    if options.only:
        return
    yield f"peers at {count:,} documents, distance 3", index.compare_peers(count, _SEED)
    yield (
        "our index by size",
        (in_child(index.measure_size, size, _SEED) for size in sizes),
    )
    for n_bits, max_distance in ((64, 3), (64, 6), (128, 3), (128, 6)):
        rows = partial(in_child, index.layouts_on_random, n_bits, max_distance, count, _SEED)
        yield f"layouts, {n_bits} bits, distance {max_distance}, random", _late(rows)
    if real is not None:
        yield "layouts on real fingerprints", index.layouts_on_real(*real, _SEED)
    yield "memory of lookups", _late(lambda: [in_child(index.memory_of_lookups, count, _SEED)])
    yield "rebuild from a job's store", _rebuilt(options.rebuild or count)


def _late(rows: Any) -> Iterator[dict[str, Any]]:
    """Begin to measure only when the rows are asked for."""
    yield from rows()


def _rebuilt(count: int) -> Iterator[dict[str, Any]]:
    with TemporaryDirectory(prefix="dedup-") as folder:
        yield in_child(index.rebuild, count, _SEED, Path(folder))


def _real_fingerprints(options: argparse.Namespace) -> tuple[Fingerprints, str] | None:
    if options.job:
        return _job_fingerprints(options.job), options.job.name
    if options.corpus:
        return _corpus_fingerprints(options.corpus), options.corpus.name
    return None


def _job_fingerprints(folder: Path) -> Fingerprints:
    with open_store(folder, read_only=True) as store:
        raw = [value for _, values in store.signatures("simhash") for value in values]
    return _as_words(raw, f"{folder}")


def _corpus_fingerprints(path: Path) -> Fingerprints:
    signature = fingerprint.detector().signature
    found = (signature(document) for document in read_corpus(path))
    return _as_words([value for value in found if value is not None], f"{path}")


def _as_words(signatures: list[bytes], source: str) -> Fingerprints:
    if len(signatures) < _LEAST_FINGERPRINTS:
        raise ValueError(
            f"{source}: expected {_LEAST_FINGERPRINTS} fingerprints or more, got {len(signatures)}"
        )
    words = np.frombuffer(b"".join(signatures), ">u8").astype(np.uint64)
    return words.reshape(len(signatures), -1)


def _fingerprint_sections(options: argparse.Namespace) -> Iterator[_Section]:
    corpora = fingerprint.made_up_corpora(_SEED)
    for path in options.corpus:
        corpora[path.name] = [document.text for document in read_corpus(path)[:500]]
    yield "documents to fingerprints, one core", fingerprint.compare(corpora)


def _url_sections(options: argparse.Namespace) -> Iterator[_Section]:
    count = options.urls
    yield f"filters of {count:,} URLs, error rate {urls.ERROR_RATE:g}", urls.compare(count, _SEED)
    yield "confirmed by a job's store", _late(lambda: _confirmed(count))


def _confirmed(count: int) -> Iterator[dict[str, Any]]:
    with TemporaryDirectory(prefix="dedup-") as folder:
        yield in_child(urls.with_store, count, _SEED, Path(folder))


def _whole(text: str) -> int:
    """A number of things; 1e7 and 10_000_000 will do as well as 10000000."""
    count = float(text.replace("_", ""))
    if count < 1_000 or count != int(count):
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1000, got {text}")
    return int(count)


if __name__ == "__main__":
    sys.exit(main())
