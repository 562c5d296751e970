"""`dedup export JOB --dataset DIR`, and `--partition host`: folders of Parquet files."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dedup.cli.targets import Target, target, written_folder
from dedup.export import WithoutRepeated, page_columns, page_rows
from dedup.export.dataset import write_dataset
from dedup.export.partitions import PARTITIONS, write_partitions
from dedup.store import JobStore
from dedup.store.selection import Selection

DATASET = "dataset"
FOLDERS = (DATASET, *PARTITIONS)
"""Kinds of folders."""


def add_folder_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("folders")
    group.add_argument(
        "--partition",
        choices=[*PARTITIONS],
        help="make -o, which must end in .parquet, a folder with a Parquet file for each host, or"
        " for each day on which pages were fetched",
    )
    group.add_argument(
        "--dataset",
        type=target,
        metavar="DIR",
        help="write pages to a new folder that datasets.load_dataset opens, with its card",
    )


def check_partition(partition: str | None, pages: Target | None, found: str | None) -> None:
    """Check that pages go to Parquet if they are to be parted.

    Raises:
        ValueError: they go elsewhere.
    """
    if partition is not None and found != "parquet":
        given = "no -o" if pages is None else repr(str(pages))
        raise ValueError(f"--partition needs Parquet, such as -o pages.parquet, got {given}")


def write_folder(
    where: Target,
    kind: str,
    store: JobStore,
    chosen: Selection,
    fields: Sequence[str],
    counted: Callable[[Iterable[Any]], Iterable[Any]],
    change: WithoutRepeated | None,
    options: Sequence[str],
) -> None:
    """Write the pages to a new folder of one of `FOLDERS`; `options` leave out some."""
    names = tuple(dict.fromkeys([*fields, "url", "fetched_at"]))  # which the folders are made by
    rows, columns = counted(page_rows(store, names, chosen, change=change)), page_columns(fields)
    with written_folder(where) as folder:
        if kind == DATASET:
            name = store.job.replace("#", "/").rpartition("/")[2]
            n_duplicates = store.exports.count("duplicates", chosen)
            write_dataset(folder, name, rows, columns, n_duplicates=n_duplicates, options=options)
        else:
            write_partitions(folder, rows, columns, kind)
