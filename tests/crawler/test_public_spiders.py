"""Spiders as public Scrapy projects have them, with and without the add-on: what is dropped.

Each is written like the published ones of its kind (a tutorial's quotes with pagination, a book
shop by rules, a sitemap, a feed in XML, a loader that fills dataclasses), against pages of our own.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.slow

_SCRIPT = """
import dataclasses, json, sys
import scrapy
from itemadapter import ItemAdapter
from itemloaders.processors import Compose, Join, MapCompose, TakeFirst
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider, Rule, SitemapSpider, XMLFeedSpider

SITE = sys.argv[1]

class Quotes(scrapy.Spider):
    name = "quotes"
    start_urls = [SITE + "quotes/1"]
    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {
                "text": quote.css("span.text::text").get(),
                "author": quote.css("small.author::text").get(),
                "tags": quote.css("a.tag::text").getall(),
            }
        yield from response.follow_all(css="li.next a", callback=self.parse)

class Book(scrapy.Item):
    title = scrapy.Field()
    price = scrapy.Field()
    stock = scrapy.Field()

class Books(CrawlSpider):
    name = "books"
    start_urls = [SITE + "books/"]
    rules = (
        Rule(LinkExtractor(allow="/books/page-")),
        Rule(LinkExtractor(restrict_css="h3"), callback="parse_book"),
    )
    def parse_book(self, response):
        yield Book(
            title=response.css("h1::text").get(),
            price=response.css(".price::text").re_first(r"[\\d.]+"),
            stock=response.css(".stock::text").get("").strip(),
        )

class Manual(SitemapSpider):
    name = "manual"
    sitemap_urls = [SITE + "sitemap-index.xml"]
    sitemap_rules = [("/manual/", "parse_page")]
    def parse_page(self, response):
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "text": " ".join(response.css("main ::text").getall()),
        }

class News(XMLFeedSpider):
    name = "news"
    start_urls = [SITE + "all.rss", SITE + "sport.rss"]
    itertag = "item"
    def parse_node(self, response, node):
        yield {
            "headline": node.xpath("title/text()").get(),
            "link": node.xpath("link/text()").get(),
            "summary": node.xpath("description/text()").get(),
        }

@dataclasses.dataclass
class Article:
    url: str = ""
    headline: str = ""
    text: str = ""
    words: int = 0

class ArticleLoader(ItemLoader):
    default_item_class = Article
    default_output_processor = TakeFirst()
    text_in = MapCompose(str.strip, lambda text: text or None)
    text_out = Join("\\n")
    words_out = Compose(lambda values: len(" ".join(values).split()))

class Articles(scrapy.Spider):
    name = "articles"
    start_urls = [SITE + "articles/"]
    def parse(self, response):
        yield from response.follow_all(css="main a", callback=self.parse_article)
    def parse_article(self, response):
        loader = ArticleLoader(response=response)
        loader.add_value("url", response.url)
        loader.add_css("headline", "title::text")
        loader.add_css("text", "main p::text")
        loader.add_css("words", "main p::text")
        yield loader.load_item()

CASES = {
    "quotes": (Quotes, {}),
    "quotes without tags": (Quotes, {"DEDUP_ITEM_IGNORE_FIELDS": "tags"}),
    "quotes by text": (Quotes, {"DEDUP_ITEM_IGNORE_FIELDS": "tags, author"}),
    "quotes by author": (Quotes, {"DEDUP_ITEM_KEY_FIELDS": "author"}),
    "books": (Books, {}),
    "manual": (Manual, {}),
    "news": (News, {}),
    "news by summary": (
        News, {"DEDUP_ITEM_TEXT_FIELDS": "summary", "DEDUP_ITEM_URL_FIELD": "link"}
    ),
    "articles": (Articles, {}),
    "articles without words": (Articles, {"DEDUP_ITEM_IGNORE_FIELDS": "words"}),
}
process = CrawlerProcess({"LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False})
crawls = {}
for name, (spider, settings) in CASES.items():
    for way in ("plain", "addon"):
        if way == "addon":
            settings = {"ADDONS": {"dedup.scrapy.DedupAddon": 500}, "DEDUP_PROGRESS": "off",
                        **settings}
        own = {"CONCURRENT_REQUESTS": 1, **(settings if way == "addon" else {})}
        crawler = process.create_crawler(type(name, (spider,), {"custom_settings": own}))
        crawl = {"kept": [], "dropped": [], "failed": 0}
        def scraped(item, kept=crawl["kept"]):
            kept.append(ItemAdapter(item).asdict())
        def dropped(item, exception, dropped=crawl["dropped"]):
            dropped.append([exception.match.stage, ItemAdapter(item).asdict()])
        def failed(crawl=crawl):
            crawl["failed"] += 1
        crawl_handlers = scraped, dropped, failed
        vars(crawler)["_held"] = crawl_handlers
        crawler.signals.connect(scraped, scrapy.signals.item_scraped)
        crawler.signals.connect(dropped, scrapy.signals.item_dropped)
        crawler.signals.connect(failed, scrapy.signals.item_error)
        crawler.signals.connect(failed, scrapy.signals.spider_error)
        crawls[name, way] = crawler, crawl
        process.crawl(crawler)
process.start()
print(json.dumps({
    f"{name}, {way}": {**crawl, "stats": {
        k: v for k, v in crawler.stats.get_stats().items()
        if k.startswith("dedup/") or k == "downloader/response_count"
    }} for (name, way), (crawler, crawl) in crawls.items()
}))
"""


def _quotes(number: int, *quotes: tuple[str, str], following: bool) -> bytes:
    rows = "".join(
        f"<div class=quote><span class=text>{text}</span><small class=author>{author}</small>"
        f"<a class=tag>page{number}</a></div>"
        for text, author in quotes
    )
    link = f'<li class=next><a href="/quotes/{number + 1}">Next</a></li>' if following else ""
    return f"<!doctype html><meta charset=utf-8>{rows}<ul>{link}</ul>".encode()


def _feed(site: str, *entries: tuple[str, str]) -> bytes:
    rows = "".join(
        f"<item><title>{name}</title><link>{site}news/{name}</link>"
        f"<description>{text}</description></item>"
        for name, text in entries
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{rows}</channel></rss>'.encode()


def _sitemap(root: str, tag: str, *urls: str) -> bytes:
    rows = "".join(f"<{tag}><loc>{url}</loc></{tag}>" for url in urls)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?><{root} xmlns="{space}">{rows}</{root}>'.encode()


def _book(title: str) -> bytes:
    return (
        f"<!doctype html><h1>{title}</h1><p class=price>£20.00</p><p class=stock>In stock</p>"
    ).encode()


def _books(*books: str, following: str = "") -> bytes:
    rows = "".join(f'<h3><a href="/books/{name}">{name}</a></h3>' for name in books)
    return f'<!doctype html>{rows}<a href="/books/page-2{following}">next</a>'.encode()


@pytest.fixture(scope="module")
def crawls(make: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The items of each spider, kept and dropped, with and without the add-on."""
    script = tmp_path_factory.mktemp("public") / "script.py"
    script.write_text(_SCRIPT)
    xml = "application/xml"
    with make.WebSite() as site:
        url = site.url
        quotes = [(make.prose(f"quote {n}", 24), f"Author {n % 3}") for n in range(8)]
        entries = [(f"n{n}", make.prose(f"news {n}")) for n in range(4)]
        story = make.prose("story", 300)
        site.routes |= {
            # The second page repeats a quote, and has another author's quote of equal words.
            "/quotes/1": _quotes(1, *quotes[:4], following=True),
            "/quotes/2": _quotes(
                2, quotes[1], *quotes[4:], (quotes[2][0], "Another"), following=False
            ),
            # Two editions of equal title and price, and a page that is linked by a fragment, too.
            "/books/": _books("one", "two", "one#reviews"),
            "/books/page-2": _books("two-2nd", "three", following="#top"),
            "/books/one": _book("The first"),
            "/books/two": _book("The second"),
            "/books/two-2nd": _book("The second"),
            "/books/three": _book("The third"),
            "/sitemap-index.xml": make.Answer(
                _sitemap("sitemapindex", "sitemap", f"{url}a.xml", f"{url}b.xml.gz"),
                content_type=xml,
            ),
            "/a.xml": make.Answer(
                _sitemap("urlset", "url", *(f"{url}manual/{n}" for n in "abc"), f"{url}about"),
                content_type=xml,
            ),
            "/b.xml.gz": make.Answer(
                gzip.compress(_sitemap("urlset", "url", f"{url}manual/print/a", f"{url}manual/d")),
                content_type="application/gzip",
            ),
            "/manual/print/a": make.page("a", head="<script>print()</script>"),
            **{f"/manual/{name}": make.page(name) for name in "abcd"},
            # One entry stands in both feeds.
            "/all.rss": make.Answer(_feed(url, *entries[:3]), content_type=xml),
            "/sport.rss": make.Answer(_feed(url, entries[1], entries[3]), content_type=xml),
            # An article, the same with a line below it, and two others.
            "/articles/": (
                b"<!doctype html><main><a href=1>1</a><a href=2>2</a><a href=3>3</a>"
                b"<a href=4>4</a></main>"
            ),
            "/articles/1": f"<title>Story</title><main><p>{story}</main>".encode(),
            "/articles/2": make.page("another"),
            "/articles/3": (
                f"<title>Story</title><main><p>{story}<p>First in our Sunday paper.</main>"
            ).encode(),
            "/articles/4": make.page("a third"),
        }
        done = subprocess.run(
            [sys.executable, str(script), url],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr, done.stderr
        return json.loads(done.stdout.replace(url, "/"))


def _dropped(crawls: Any, name: str) -> list[tuple[str, Any]]:
    """What the add-on took away; it has changed nothing else."""
    plain, addon = crawls[f"{name}, plain"], crawls[f"{name}, addon"]
    assert plain["failed"] == addon["failed"] == 0
    assert plain["dropped"] == []
    dropped = [item for _, item in addon["dropped"]]
    assert _sorted(plain["kept"]) == _sorted([*addon["kept"], *dropped])
    assert (
        addon["stats"]["downloader/response_count"] == plain["stats"]["downloader/response_count"]
    )
    for item in dropped:
        assert item not in addon["kept"] or plain["kept"].count(item) > 1
    return [(stage, item) for stage, item in addon["dropped"]]


def _sorted(items: list[Any]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def test_quotes_that_differ_in_author_or_tags_are_kept(crawls: Any) -> None:
    assert _dropped(crawls, "quotes") == []
    assert len(crawls["quotes, addon"]["kept"]) == len(crawls["quotes, plain"]["kept"]) == 10
    ((_, item),) = _dropped(crawls, "quotes without tags")
    assert (item["tags"], item["author"] != "Another") == (["page2"], True)


def test_quotes_that_are_repeated_are_dropped(crawls: Any) -> None:
    kept = crawls["quotes by text, addon"]["kept"]
    dropped = _dropped(crawls, "quotes by text")
    assert [(stage, item["tags"]) for stage, item in dropped] == [("text", ["page2"])] * 2
    texts = [item["text"] for item in kept]
    assert len(texts) == len(set(texts)) == 8
    assert {item["text"] for _, item in dropped} < set(texts)


def test_with_key_fields_a_quote_of_another_author_is_kept(crawls: Any) -> None:
    ((stage, item),) = _dropped(crawls, "quotes by author")
    assert stage == "text"
    same = [
        each for each in crawls["quotes by author, addon"]["kept"] if each["text"] == item["text"]
    ]
    assert [each["author"] for each in same] == [item["author"]]
    assert "Another" in {each["author"] for each in crawls["quotes by author, addon"]["kept"]}


def test_all_books_are_kept_as_items(crawls: Any) -> None:
    assert _dropped(crawls, "books") == []
    titles = sorted(item["title"] for item in crawls["books, addon"]["kept"])
    assert titles == ["The first", "The second", "The second", "The third"]
    assert crawls["books, addon"]["stats"]["dedup/items/no_page"] == 4


def test_of_a_sitemap_the_print_version_is_dropped(crawls: Any) -> None:
    ((stage, item),) = _dropped(crawls, "manual")
    urls = {each["url"] for each in crawls["manual, addon"]["kept"]}
    one = {"/manual/a", "/manual/print/a"}
    assert stage == "text"
    assert {item["url"]} == one - urls
    assert urls == {f"/manual/{name}" for name in "bcd"} | one - {item["url"]}


def test_of_feeds_an_entry_of_both_is_dropped_once_fields_are_named(crawls: Any) -> None:
    assert _dropped(crawls, "news") == []
    assert crawls["news, addon"]["stats"]["dedup/items/no_page"] == 5
    ((stage, item),) = _dropped(crawls, "news by summary")
    assert (stage, item["link"]) == ("text", "/news/n1")
    kept = {each["link"] for each in crawls["news by summary, addon"]["kept"]}
    assert kept == {f"/news/n{n}" for n in range(4)}


def test_of_loaded_dataclasses_the_same_article_with_a_line_more_is_dropped(crawls: Any) -> None:
    assert _dropped(crawls, "articles") == []  # they differ in the number of words
    ((stage, item),) = _dropped(crawls, "articles without words")
    assert stage == "sentences"
    urls = {each["url"] for each in crawls["articles without words, addon"]["kept"]}
    both = {"/articles/1", "/articles/3"}
    assert {item["url"]} == both - urls
    assert len(urls) == 3
    assert item["words"] in {300, 305}
