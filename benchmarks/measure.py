"""Time with its spread, memory of a process, and what a run was made on."""

import gc
import importlib
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RUNS = 5

PACKAGES = ("numpy", "simhash", "gaoya", "faiss-cpu", "datasketch", "rensa")


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of several runs, the least and the most."""

    median: float
    least: float
    most: float


def peer(module: str) -> Any:
    """Import another library; what it warns of while being imported is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


def spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


def timed(
    function: Callable[[], object],
    count: int,
    runs: int = RUNS,
    clock: Callable[[], float] = time.perf_counter,
) -> Spread:
    """Seconds for one of the `count` things that `function` does; it is called `runs` times."""
    seconds = []
    for _ in range(runs):
        start = clock()
        function()
        seconds.append((clock() - start) / count)
    return spread(seconds)


def resident_bytes() -> int:
    """Memory of this process that is in RAM; 0 where the system does not tell (not Linux)."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_bytes() -> int:
    """The most memory that this process ever had in RAM; 0 where the system does not tell."""
    try:
        import resource  # not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_child(function: Callable[..., Any], *arguments: object) -> Any:
    """Call `function` in a new process, so that its memory is its own, and give its result."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        return pool.apply(function, arguments)


def environment(versions: Mapping[str, str], **facts: object) -> dict[str, object]:
    """What a figure depends on besides the code: the machine, the `versions`, and other `facts`."""
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        **facts,
        "versions": dict(versions),
    }


def installed_versions(packages: Sequence[str]) -> dict[str, str]:
    return {name: installed_version(name) for name in packages}


def installed_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- a fixed command
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
