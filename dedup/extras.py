"""Packages that only some users need: asked for where they are used, and not before."""

import importlib
import importlib.util
from typing import Any


def require_extra(module: str, *, extra: str, purpose: str) -> None:
    """Look whether a module of an optional package is there, without importing it.

    Raises:
        ModuleNotFoundError: as `load_extra`.
    """
    if importlib.util.find_spec(module) is None:
        raise _missing(module, extra, purpose)


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Raises:
        ModuleNotFoundError: it is not installed; the message says what needs it and how to get it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(error.name, extra, purpose) from error


def _missing(name: str | None, extra: str, purpose: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"{purpose} needs a package that is not installed; "
        f"install it: pip install 'scrapy-dedup[{extra}]'",
        name=name,
    )
