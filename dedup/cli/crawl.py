"""`dedup crawl URL…`: crawls sites from any folder, without a Scrapy project."""

import argparse
import signal
import sys
from pathlib import Path
from shlex import quote

from dedup.cli import export
from dedup.cli.arguments import QUIET
from dedup.cli.console import ERRORS
from dedup.cli.crawl_arguments import checked_settings, checked_spider
from dedup.cli.keeping import interval, is_visit, keep
from dedup.cli.paths import check_paths
from dedup.collection.formats import ENDINGS, format_to_write
from dedup.collection.writing.outputs import check_outputs
from dedup.extras import require_extra
from dedup.store import job_exists, open_store

_WRITERS = {
    "parquet": ("pyarrow", "parquet"),
    "warc": ("warcio", "warc"),
    "wacz": ("warcio", "warc"),
}
"""By format: what writes it, and the extra with that package."""

_UNSOUND = 1
_KILLED = 130
_STOPPED = "shutdown"
"""Scrapy's reason for a crawl that was asked to stop."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Crawl sites, and keep one copy of each page. The job is kept in a folder of ./crawls that"
        " is named after the host; the same command resumes a crawl that was interrupted."
    )
    parser.epilog = (
        "Exit status: 0, finished, or stopped on request; 1, needs attention, for example no page"
        " found; 2, not started; 130, ended by a second Ctrl-C."
    )
    parser.add_argument(
        "urls", nargs="*", metavar="URL", help="where to start; pages of these hosts are fetched"
    )
    parser.add_argument(
        *("-o", "--output"),
        dest="pages",
        type=Path,
        metavar="FILE",
        help="when the crawl has ended, export its pages, as `dedup export JOB -o FILE` does;"
        f" formats, by extension: {', '.join([*ENDINGS, *export.PACKAGES])}",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument(
        "--sitemap",
        action="store_true",
        help="fetch the pages that the site's sitemaps list, or the sitemap at URL",
    )
    parser.add_argument(
        "--urls", dest="list", metavar="FILE", help="fetch the pages of a list, one URL per line"
    )
    parser.add_argument("--allow", metavar="REGEX", help="fetch only URLs that match this")
    parser.add_argument("--deny", metavar="REGEX", help="fetch no URLs that match this")
    parser.add_argument(
        "--max-pages", metavar="N", help="stop after N pages, duplicates included; more: resume"
    )
    parser.add_argument(
        "--max-seconds", metavar="N", help="stop after N seconds; the same command resumes"
    )
    parser.add_argument(
        "--processes", metavar="N", help="crawl with N processes, or auto, for several hosts"
    )
    parser.add_argument(
        "--render",
        choices=("off", "auto", "always"),
        help="have a browser make pages: those that need it, or all (default: off)",
    )
    parser.add_argument(
        "--refresh",
        action="store_true",
        help="visit the pages of a finished job again; with --max-pages or --max-seconds, first"
        " those that have most likely changed",
    )
    parser.add_argument(
        "--keep",
        metavar="TIME",
        help="stay, and refresh again and again, TIME after each visit: 90s, 30min, 1h or 1d; the"
        " first crawl fetches all pages, --max-pages and --max-seconds limit visits. SIGHUP: visit"
        " now",
    )
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="with --keep: log to this file, which stays below 5 MB, and its predecessor FILE.1",
    )
    parser.add_argument("--job", dest="name", metavar="NAME", help="the job's name")
    parser.add_argument(
        "-s",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of Scrapy or of this package; may be repeated; -s @FILE: those of a file,"
        " one a line",
    )


def execute(options: argparse.Namespace) -> int:
    spider, arguments = checked_spider(options)
    settings = checked_settings(options)
    if options.quiet:
        settings = QUIET | settings
    if options.pages is not None:
        _check_output(options.pages, overwrite=options.overwrite)
    if options.keep is not None and not is_visit():
        return keep(interval(options.keep), options.log)
    from dedup.scrapy.standalone import crawl

    crawled = crawl(spider, arguments, settings, first_is_whole=options.keep is not None)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it was Scrapy's
    if options.quiet and crawled.status == _UNSOUND:
        job = f": dedup stats {quote(str(crawled.place))}" if crawled.place else ""
        print(f"dedup: the crawl needs attention{job}", file=sys.stderr)
    if options.pages is not None and crawled.status != _KILLED and not crawled.is_part:
        _export(crawled.place, options)
    return crawled.status


def _check_output(path: Path, *, overwrite: bool) -> None:
    """Check that the pages can be written there: a crawl may take hours.

    Raises:
        ValueError: it is not a file of this machine, or of a format that can be written.
        OSError: it exists, and is not to be replaced; or it is a folder.
        ModuleNotFoundError: what writes the format is not installed.
    """
    check_paths({"-o": str(path)})
    found = format_to_write(path, also=export.PACKAGES)
    if found in _WRITERS:
        module, extra = _WRITERS[found]
        require_extra(module, extra=extra, purpose=f"-o {path}")
    check_outputs({"-o": str(path)}, {}, overwrite=overwrite)


def _export(place: Path | str | None, options: argparse.Namespace) -> None:
    """Export the pages; none if there are no pages, or if the crawl was asked to stop.

    Raises:
        ValueError: there is no job.
    """
    if place is None or not job_exists(place):
        raise ValueError("-o: the job was not kept: DEDUP_KEEP_JOBS or DEDUP_ENABLED is off")
    with open_store(place, read_only=True) as store:
        if not store.stats.pages():
            ERRORS.print(f"{options.pages} is not written: there are no pages")
            return
        if store.meta("reason") == _STOPPED:
            ERRORS.print(f"{options.pages} is written when the same command has finished the crawl")
            return
    parser = argparse.ArgumentParser()
    export.add_arguments(parser)
    flags = ["--overwrite"] if options.overwrite else []
    export.execute(parser.parse_args([str(place), "-o", str(options.pages), *flags]))
