"""Benchmarks collect garbage before they look at memory, and tests have much that is none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def little_to_collect() -> Iterator[None]:
    """Leave out what is there now."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
