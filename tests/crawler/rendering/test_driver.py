"""The end of the browser's driver is noticed, whatever it was asked before."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from dedup.scrapy.rendering.driver import drivers, wait_for_end

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")


async def _started(*arguments: str) -> asyncio.subprocess.Process:
    sleep = "import time; print(flush=True); time.sleep(60)"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", sleep, *arguments), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    return process


def test_the_end_of_a_driver_is_noticed() -> None:
    async def run() -> None:
        others = drivers()
        driver, other = await _started("run-driver"), await _started("serve")
        assert drivers() - others == {driver.pid}
        waiting = asyncio.ensure_future(wait_for_end([driver.pid]))
        other.kill()
        await other.wait()
        await asyncio.sleep(1)
        assert not waiting.done()
        driver.kill()
        await asyncio.wait_for(waiting, 30)
        await driver.wait()

    asyncio.run(run())


def test_without_a_driver_it_waits() -> None:
    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait_for_end([]), 1)

    asyncio.run(run())
