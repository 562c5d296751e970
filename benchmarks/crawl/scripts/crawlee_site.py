"""Crawlee with what makes it fastest here: Parsel, requests in memory, no sessions, steady tasks.

Run: python crawlee_site.py URL CONCURRENCY pages.jsonl
"""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

from scrapy.linkextractors import IGNORED_EXTENSIONS


async def crawl(url: str, concurrency: int, path: Path) -> None:
    # Here, for those who look at this file without having it.
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler
    from crawlee.storage_clients import MemoryStorageClient

    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency,
            max_concurrency=concurrency,
            desired_concurrency=concurrency,
        ),
    )
    endings = "|".join(map(re.escape, sorted(IGNORED_EXTENSIONS)))
    ignored = re.compile(rf"^[^?#]*/[^/?#]*\.({endings})([?#]|$)", re.IGNORECASE)
    with path.open("w", encoding="utf-8") as pages:

        @crawler.router.default_handler
        async def take(context: Any) -> None:
            content_type = context.http_response.headers.get("content-type") or ""
            if "html" not in content_type:
                return
            # Its data set would write a file for each page, or keep all of them in memory.
            title = context.selector.css("title::text").get()
            html = (await context.http_response.read()).decode("utf-8", "replace")
            item = {"url": context.request.loaded_url, "title": title, "html": html}
            pages.write(json.dumps(item, ensure_ascii=False) + "\n")
            await context.enqueue_links(strategy="same-origin", exclude=[ignored])

        await crawler.run([url])


if __name__ == "__main__":
    asyncio.run(crawl(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
