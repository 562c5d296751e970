"""The crawl of `cluster.py` by Scrapy with scrapy-redis, to compare with.

    python -m benchmarks.measurements.cluster_redis
        [--workers 1,2] [--hosts 200] [--pages 20] [--kills 0] [--delay 0]

Needs Redis' server (`redis-server`) and the package scrapy-redis, which is no dependency of this
project. The settings are those of its README (queue, dupefilter, SCHEDULER_PERSIST); a worker ends
when it was idle for 5 s. Prints pages/s, pages lost, pages kept twice, equal texts kept, and how
often two requests of a host were closer than the delay.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.measurements.cluster import Site, crawl, politeness
from benchmarks.measurements.cluster_faults import Faults
from benchmarks.measurements.cluster_site import urls

SPIDER = """
import scrapy
from scrapy.linkextractors import LinkExtractor
from scrapy_redis.spiders import RedisSpider

class Site(RedisSpider):
    name = "site"
    redis_key = "site:start_urls"
    max_idle_time = 5
    links = LinkExtractor()

    def parse(self, response):
        yield {"url": response.url, "text": " ".join(response.css("main *::text").getall())}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
"""


def start_worker(folder: Path, port: int, delay: float, name: str) -> subprocess.Popen:
    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": "True",
        "REDIS_URL": f"redis://127.0.0.1:{port}",
        "CONCURRENT_REQUESTS": "32",
        "ROBOTSTXT_OBEY": "0",
        "LOG_LEVEL": "WARNING",
        "DOWNLOAD_DELAY": str(delay),
        "RANDOMIZE_DOWNLOAD_DELAY": "0",
        "CONCURRENT_REQUESTS_PER_DOMAIN": "1" if delay else "8",
    }
    command = [sys.executable, "-m", "scrapy", "runspider", "shared_site.py", "-o", f"{name}.jsonl"]
    command += [part for each in settings.items() for part in ("-s", "=".join(each))]
    with (folder / f"{name}.log").open("w") as output:
        return subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)


def start_redis(folder: Path, port: int) -> subprocess.Popen:
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--appendonly", "yes"]
    process = subprocess.Popen([*command, "--dir", str(folder)], stdout=subprocess.DEVNULL)
    while subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True).returncode:
        time.sleep(0.1)
    return process


def measured(options: argparse.Namespace, n: int) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "shared_site.py").write_text(SPIDER)
        port = 16379
        redis = start_redis(folder, port)
        site = Site(options.hosts, options.pages, folder / "requests.log")
        faults = Faults({"kills": options.kills}, "", None, site.log, seed=n)
        push = ["redis-cli", "-p", str(port), "lpush", "site:start_urls", *site.start.split(",")]
        subprocess.run(push, check=True, stdout=subprocess.DEVNULL)
        try:
            run = crawl(lambda name: start_worker(folder, port, options.delay, name), n, faults)
        finally:
            for process in (site.process, redis):
                process.send_signal(signal.SIGTERM)
                process.wait()
        kept = [
            json.loads(line)
            for feed in folder.glob("*.jsonl")
            for line in feed.read_text().splitlines()
            if line.endswith("}")
        ]
        requests = site.requests()
    found = Counter(row["url"] for row in kept)
    expected = set(urls(options.hosts, options.pages, site.port))
    texts = Counter({row["url"]: row["text"] for row in kept}.values())
    span = max(row[0] for row in requests) - min(row[0] for row in requests)
    return {
        "pages": len(expected),
        "lost": len(expected - set(found)),
        "twice": sum(found.values()) - len(found),
        "equal_texts_kept": sum(texts.values()) - len(texts),
        **politeness(requests, options.delay),
        "pages_per_second": round(len(found) / span, 1),
        **run,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    for n in map(int, options.workers.split(",")):
        print(json.dumps({"workers": n, **measured(options, n)}), flush=True)


if __name__ == "__main__":
    main()
