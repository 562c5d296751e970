"""Optional packages: imported where they are used, and not before."""

import importlib
import importlib.util
from typing import Any

_MISSING = "{} needs a package that is {}; install it: pip install 'scrapy-dedup[{}]'"


def require_extra(module: str, *, extra: str, purpose: str) -> None:
    """Check that a module of an optional package is installed, without importing it.

    Raises:
        ModuleNotFoundError: see `load_extra`.
    """
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(_MISSING.format(purpose, "not installed", extra), name=module)


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Raises:
        ModuleNotFoundError: it is not installed; the message says what needs it and how to
            install it.
        ImportError: it is installed but cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        message = _MISSING.format(purpose, "not installed", extra)
        raise ModuleNotFoundError(message, name=error.name) from error
    except ImportError as error:
        why = f"not complete ({' '.join(str(error).split())})"
        raise ImportError(_MISSING.format(purpose, why, extra), name=error.name) from error
