"""Packages that only some users need: asked for where they are used, and not before."""

import importlib
from typing import Any


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Raises:
        ModuleNotFoundError: it is not installed; the message says what needs it and how to get it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{purpose} needs a package that is not installed; "
            f"install it: pip install 'scrapy-dedup[{extra}]'",
            name=error.name,
        ) from error
