"""Which paths are of this machine."""

import re
from collections.abc import Mapping

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""`pathlib` leaves one slash; a single letter is a drive of Windows."""


def check_paths(given: Mapping[str, str | None]) -> None:
    """Check that paths, by option, are no addresses: a folder named `s3:` is never meant.

    Raises:
        ValueError: one is.
    """
    for option, path in given.items():
        if path is not None and _ADDRESS.match(path):
            raise ValueError(
                f"{option} must be a path on this machine, got {path!r}; only"
                " `dedup run --engine spark` takes addresses, of the file systems that Spark knows"
            )
