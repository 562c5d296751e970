"""Crawlee's AdaptivePlaywrightCrawler: it renders where its prediction or a comparison says so.

Run: python crawlee_adaptive.py URL CONCURRENCY pages.jsonl CHROMIUM SELECTOR

SELECTOR is what a page is waited for; where a script makes it, it tells crawlee to render the page.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any


async def crawl(url: str, concurrency: int, path: Path, chromium: str, selector: str) -> None:
    # Here, for those who look at this file without having it.
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import AdaptivePlaywrightCrawler
    from crawlee.storage_clients import MemoryStorageClient

    options = {"executable_path": chromium, "args": ["--no-sandbox"]}
    crawler = AdaptivePlaywrightCrawler.with_parsel_static_parser(
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        concurrency_settings=ConcurrencySettings(
            min_concurrency=1, max_concurrency=concurrency, desired_concurrency=concurrency
        ),
        playwright_crawler_specific_kwargs={
            "browser_type": "chromium",
            "headless": True,
            "browser_launch_options": options,
        },
    )

    @crawler.router.default_handler
    async def take(context: Any) -> None:
        await context.wait_for_selector(selector)
        # What both ways give is compared by what is pushed: the words, not the markup.
        pieces = (
            (await context.parse_with_static_parser())
            .xpath("//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript)]")
            .getall()
        )
        text = " ".join(" ".join(pieces).split())
        await context.push_data({"url": context.request.loaded_url, "text": text})
        await context.enqueue_links(strategy="same-origin")

    await crawler.run([url])
    found = await crawler.get_data()
    with path.open("w", encoding="utf-8") as pages:
        pages.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in found.items)


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:]))
