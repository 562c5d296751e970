"""Where exports go: files and folders of this machine, and addresses that fsspec knows."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dedup.collection.remote import check_addresses, is_address, local_path, sent
from dedup.collection.writing.outputs import (
    FOLDER_IS_THERE,
    check_new,
    check_outputs,
    new_folder,
)

Target = Path | str
"""A path of this machine, or else an address."""


def target(given: str) -> Target:
    """What an option names."""
    local = local_path(given)
    return local if is_address(local) else Path(local)


def check_targets(
    outputs: Mapping[str, Target],
    inputs: Mapping[str, Iterable[Path]],
    *,
    overwrite: bool,
    folders: Iterable[str] = (),
) -> None:
    """Check that no output is an input, another output, or there already.

    Args:
        outputs: by option.
        inputs: files that are read, by what names them.
        overwrite: files that are there may be replaced.
        folders: options that name folders, which are never replaced.

    Raises:
        ValueError: two outputs are one, or nothing that is installed knows an address.
        ModuleNotFoundError: fsspec is not installed.
        OSError: an output is there already, or is a folder.
    """
    new = set(folders)
    for option in new & outputs.keys():
        if isinstance(found := outputs[option], Path):
            check_new(found)
    here = {
        option: str(found)
        for option, found in outputs.items()
        if isinstance(found, Path) and option not in new
    }
    check_outputs(here, inputs, overwrite=overwrite)
    there = {option: found for option, found in outputs.items() if isinstance(found, str)}
    files = {option: found for option, found in there.items() if option not in new}
    check_addresses(files, {}, overwrite=overwrite, has_spark=False)
    new_there = {option: there[option] for option in new & there.keys()}
    check_addresses(new_there, {}, overwrite=False, has_spark=False, remedy=FOLDER_IS_THERE)


@contextmanager
def written(found: Target) -> Iterator[Path]:
    """Give a path for a file: what is written there is renamed or sent by the end."""
    if isinstance(found, Path):
        yield found
        return
    with sent(found) as part:
        yield part


@contextmanager
def written_folder(found: Target) -> Iterator[Path]:
    """Give a new folder, which gets its name or is sent after everything succeeded."""
    with new_folder(found) if isinstance(found, Path) else sent(found, is_folder=True) as part:
        yield part
