from __future__ import annotations

from collections.abc import Iterator

import pytest

from dedup.scrapy.rendering.bounds import Bounds
from tests.crawler.rendered import Rendered, has_chromium


@pytest.fixture(scope="module")
def rendered() -> Iterator[Rendered]:
    pytest.importorskip("scrapy_playwright", reason="needs the extra render")
    if not has_chromium():
        pytest.skip("needs Chromium: apt-get install chromium-headless-shell")
    bounds = Bounds(
        seconds=60,
        idle_seconds=1,
        max_nodes=10_000,
        max_characters=1_000_000,
        max_requests=80,
        max_bytes=2**20,
        process_bytes=800 * 2**20,
        heap_mb=256,
        pages_at_once=4,
    )
    made = Rendered(bounds)
    yield made
    made.close()
