"""`dedup export JOB --without-repeated 0.3`: texts without what many pages of a host say."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from dedup.export import WithoutRepeated
from dedup.repetition import MIN_PAGES
from dedup.store import JobStore
from dedup.store.selection import Selection


def add_repeated_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--without-repeated",
        type=_share,
        metavar="SHARE",
        help="leave out of texts, and of all that comes from them, each passage that stands on"
        " at least this share of its host's stored pages, such as 0.3 or 30%%, and on"
        f" {MIN_PAGES} pages",
    )


def left_out(store: JobStore, share: float | None, chosen: Selection) -> WithoutRepeated | None:
    """What leaves repeated passages out of pages; None: it is not asked for.

    Raises:
        OSError: the disk is full.
    """
    if share is None:
        return None
    with TemporaryDirectory(prefix="dedup-") as folder:
        return WithoutRepeated(store, share, Path(folder), chosen.hosts)


def told(found: WithoutRepeated | None) -> str:
    """What was left out, behind the name of a file."""
    if found is None:
        return ""
    return f"; left out {found.words:,} words of repeated passages on {found.pages:,} pages"


def _share(text: str) -> float:
    number = text.removesuffix("%")
    try:
        share = float(number) / (1 if number == text else 100)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(
            "must be a share of the pages, more than 0 and up to 1, such as 0.3 or 30%,"
            f" got {text!r}"
        )
    return share
