"""Run a command and write what it cost as JSON: `python measured.py FILE SECONDS COMMAND…`.

A process of its own and a small one: the system counts the memory of whoever starts a command into
the command's peak.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    began = time.time()
    try:
        status = subprocess.run(sys.argv[3:], timeout=float(sys.argv[2])).returncode  # noqa: S603 -- the benchmark's own command
    except subprocess.TimeoutExpired:
        status = -1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {
        "status": status,
        "began": began,
        "ended": time.time(),
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    }
    Path(sys.argv[1]).write_text(json.dumps(cost))


if __name__ == "__main__":
    main()
