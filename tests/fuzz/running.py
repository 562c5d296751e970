"""One input through one target: what must hold of each."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Callable
from pathlib import Path

SEEDS = Path(__file__).with_name("seeds")
WORDS = Path(__file__).with_name("words")

Run = Callable[[bytes], object]
Make = Callable[[Path], Run]
"""Makes what is called with inputs, given a folder of its own."""

CPU_SECONDS, MEMORY_MB = 2.0, 300

_PYTHON = re.compile(
    r"codec can't|to unpack|invalid literal for|NoneType|object has no|subscriptable|out of range"
    r"|unsupported operand|unhashable|must be str|null byte|Traceback|argument must be|iterable"
)


def targets() -> dict[str, Make]:
    from tests.fuzz import files, web

    return {**web.TARGETS, **files.TARGETS}


def check(run: Run, data: bytes, *, again: bool = True) -> None:
    """Run an input: no exception that is not ours, no budget passed, the same answer twice."""
    began, peak = time.process_time(), _peak_mb()
    answer = run(data)
    seconds, grown_mb = time.process_time() - began, _peak_mb() - peak
    assert seconds <= CPU_SECONDS, f"{seconds:.1f} s of CPU time"
    assert grown_mb <= MEMORY_MB, f"{grown_mb} MB of memory"
    if again:
        assert repr(run(data)) == repr(answer), "another answer the second time"


def told(error: BaseException | str) -> str:
    """A sentence for the user; one of Python's own may stand in parentheses."""
    sentence = str(error)
    if not sentence or _PYTHON.search(re.sub(r"(?s)\(.*\)", "", sentence)):
        cause = error if isinstance(error, BaseException) else None
        raise AssertionError(f"no sentence for users: {sentence!r}") from cause
    return sentence


def grown(data: bytes, most: int = 131_072) -> bytes:
    """Repeat what stands between 01 and 02, as often as the square of the byte before it says."""
    found = re.sub(rb"(?s)\x01(.)([^\x01\x02]*)\x02", lambda m: m[2] * m[1][0] ** 2, data)
    return found[:most]


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
