"""Run a command and write what it cost as JSON: `python measured.py FILE SECONDS COMMAND…`.

A process of its own and a small one: the system counts the memory of whoever starts a command into
the command's peak. The memory and the CPU time of several processes are looked at ten times a
second, where there is /proc: the system tells the CPU time only of those that others waited for.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

_LOOK_SECONDS = 0.1


def main() -> None:
    began = time.time()
    limit = began + float(sys.argv[2])
    peak_bytes = 0
    seconds: dict[int, float] = {}
    process = subprocess.Popen(sys.argv[3:])  # noqa: S603 -- the benchmark's own command
    while True:
        try:
            status = process.wait(_LOOK_SECONDS)
            break
        except subprocess.TimeoutExpired:
            family = _family(process.pid)
            peak_bytes = max(peak_bytes, sum(map(_memory_bytes, family)))
            for pid in family:
                seconds[pid] = max(seconds.get(pid, 0.0), _cpu_seconds(pid))
            if time.time() > limit:
                process.kill()
    ended = time.time()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_largest = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cost = {
        "status": status,
        "began": began,
        "ended": ended,
        "cpu_seconds": max(used.ru_utime + used.ru_stime, sum(seconds.values())),
        "own_cpu_seconds": seconds.get(process.pid, 0.0),
        "peak_bytes": max(peak_bytes, of_largest),
    }
    Path(sys.argv[1]).write_text(json.dumps(cost))


def _cpu_seconds(pid: int) -> float:
    """Of a process without its children; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks: int = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / ticks


def _memory_bytes(pid: int) -> int:
    """What a process has in RAM; what it shares with others counts for each."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def _family(pid: int) -> list[int]:
    """A process and all that it and its children have started; alone where there is no /proc."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # another system, or the process has ended
        return [pid]
    return [pid, *(each for child in children for each in _family(int(child)))]


if __name__ == "__main__":
    main()
