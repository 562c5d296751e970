"""Which paths are of this machine."""

from collections.abc import Mapping

from dedup.collection.remote import is_address


def check_paths(given: Mapping[str, str | None]) -> None:
    """Check that paths, by option, are no addresses: a folder named `s3:` is never meant.

    Raises:
        ValueError: one is.
    """
    for option, path in given.items():
        if path is not None and is_address(path):
            raise ValueError(
                f"{option} must be a path on this machine, got {path!r}; `dedup run`"
                " takes addresses of files to read and to write"
            )
