"""Run a command and write what it cost as JSON: `python measured.py FILE SECONDS COMMAND…`.

A process of its own and a small one: the system counts the memory of whoever starts a command into
the command's peak. That of several processes is looked at ten times a second, where there is /proc.
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
    peak_bytes, own_seconds = 0, 0.0
    process = subprocess.Popen(sys.argv[3:])  # noqa: S603 -- the benchmark's own command
    while True:
        try:
            status = process.wait(_LOOK_SECONDS)
            break
        except subprocess.TimeoutExpired:
            peak_bytes = max(peak_bytes, _memory_bytes(process.pid))
            own_seconds = max(own_seconds, _cpu_seconds(process.pid))
            if time.time() > limit:
                process.kill()
    ended = time.time()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_largest = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cost = {
        "status": status,
        "began": began,
        "ended": ended,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "own_cpu_seconds": own_seconds,
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
    """What a process and its children have in RAM; what they share counts for each."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # another system, or the process has ended
        return 0
    return pages * resource.getpagesize() + sum(_memory_bytes(int(child)) for child in children)


if __name__ == "__main__":
    main()
