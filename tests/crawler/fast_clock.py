"""Runs `python -m MODULE` with outages that pass sooner: `fast_clock.py FACTOR -m MODULE …`.

What waits for a host that has gone away sees a clock that runs FACTOR times as fast.
"""

import asyncio
import runpy
import sys
import time
from types import SimpleNamespace


def main() -> None:
    sys.path.insert(0, "")
    factor = float(sys.argv[1])
    from dedup.scrapy.middlewares import base, outages, robots  # found by the line above

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() * factor)
    base.time = outages.time = clock
    robots._MAX_UNAVAILABLE_SECONDS *= factor
    outages.asyncio = SimpleNamespace(
        **{**vars(asyncio), "sleep": lambda seconds: asyncio.sleep(seconds / factor)}
    )
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
