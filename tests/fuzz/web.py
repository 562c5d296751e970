"""What sites send, read as the crawl reads it."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Headers, HtmlResponse, Request
from scrapy.responsetypes import responsetypes

from dedup import Deduplicator, Document
from dedup.config import DedupConfig
from dedup.preferences.declarations import from_json, of_robots_file, of_tdm_file, to_json
from dedup.preferences.hosts import HostRules
from dedup.preferences.uses import labels
from dedup.scrapy.addresses import AddressPolicy, resolved_host
from dedup.scrapy.frontier.stored_request import from_bytes, to_bytes
from dedup.scrapy.job.failure_reasons import reason_of
from dedup.scrapy.job.place import file_name
from dedup.scrapy.middlewares.cookies import BoundedCookies
from dedup.scrapy.middlewares.retry_after import seconds_of
from dedup.scrapy.reading.content import ContentReader, RawPage, TooComplexError, Wanted
from dedup.scrapy.reading.pagefind import ENTRY
from dedup.scrapy.reading.reading import header, reading_of, reread
from dedup.scrapy.reading.search_index import (
    SearchIndexError,
    index_addresses,
    read_search_index,
)
from dedup.scrapy.reading.sitemap_file import SitemapError, read_sitemap
from dedup.scrapy.robots_file import (
    RuleBook,
    TooManyWildcardsError,
    rules_for,
    sitemaps_in_robots,
    usage_rules_for,
)
from dedup.scrapy.spiders.site import SiteSpider
from dedup.sites.site import Site
from dedup.terminal.plain import guarded, plain, plain_json
from dedup.urls import RULES, Canonicaliser, UrlRules, url_key
from dedup.urls.credentials import credentials_of, without_credentials
from dedup.urls.parts import host_of, redirect_target
from dedup.urls.traps import TrapWatch, pattern_of, suspicion
from tests.crawler.test_links import make_crawler
from tests.fuzz.running import Make, Run, grown, told

URL = "http://a.example/b/?c=d"
_STAGES = frozenset({"body", "text", "sentences", "simhash", "minhash"})


def _urls(_: Path) -> Run:
    rules = [UrlRules(), UrlRules([*RULES, "bare-query", "order", "drop:a"])]
    spider = SiteSpider(url=URL, deny="x+y")

    def run(data: bytes) -> object:
        url = grown(data, 16_384).decode("utf-8", "surrogateescape")
        watch = TrapWatch(budget=1, year=2026)
        watch.restore([], [], [URL])
        bare = without_credentials(url)
        said = [bare, host_of(url), resolved_host(url), credentials_of(url), file_name(url)]
        said += [AddressPolicy().may_follow(url, URL), guarded(url), plain(url), plain_json(url)]
        with suppress(ValueError):
            said.append(redirect_target(URL, data))
        with suppress(UnicodeEncodeError):  # no page, sitemap or store gives lone surrogates
            said += [spider.page_request(url).url] if url in spider.scope else []
        for each in map(Canonicaliser, rules):
            try:
                found = each(bare)
            except ValueError as error:
                told(error)
                continue
            assert each(found) == found
            assert credentials_of(found) == ("", "")
            said += [found, url_key(found), suspicion(found, depth=1, year=2026)]
            said += [pattern_of(found), watch.reason_to_defer(found, 1)]
            said.append(spider.page_request(found).url)
        return said

    return run


def _received(data: bytes) -> tuple[Headers, bytes]:
    """Headers and body of an answer."""
    head, _, body = data.partition(b"\n\n")
    headers = Headers()
    for line in head.split(b"\n")[:50]:
        name, _, value = line.partition(b":")
        headers.appendlist(name.strip() or b"X", value.strip())
    return headers, grown(body)


def _pages(_: Path) -> Run:
    wanted = Wanted("content", True, True, True, _STAGES, DedupConfig())
    reader = ContentReader(wanted)

    def run(data: bytes) -> object:
        headers, body = _received(data)
        response = HtmlResponse(URL, headers=headers, body=body, request=Request(URL))
        robots = tuple(each.decode("latin-1") for each in headers.getlist("X-Robots-Tag"))
        raw = RawPage(body, URL, header(response, "Content-Type"), robots)
        try:
            content = reader.read(raw, Site())
        except TooComplexError as error:
            return told(error)
        pickle.dumps(content)
        assert all(link.startswith(("http://", "https://")) for link in content.links)
        page = reread(reading_of(response, raw, content, None), Site()).page
        for value in (page.text, page.title, page.language, page.canonical_url):
            (value or "").encode()  # the store takes no lone surrogates
        return content._replace(features=None), content.features and content.features.signatures

    return run


def _headers(folder: Path) -> Run:
    crawler = make_crawler(folder, DOWNLOAD_MAXSIZE=1 << 20)

    def run(data: bytes) -> object:
        headers, body = _received(data)
        request = Request(URL)
        kind = responsetypes.from_args(headers, URL, body=body)
        response = kind(URL, headers=headers, body=body, request=request)
        for each in (HttpCompressionMiddleware, BoundedCookies, CookiesMiddleware):
            try:
                response = each.from_crawler(crawler).process_response(request, response)
            except Exception as error:
                if (reason := reason_of(error)) == type(error).__name__:
                    raise  # none that is counted under a name
                return reason
        target = None
        with suppress(ValueError):
            target = redirect_target(URL, headers.get("Location") or b"")
        seconds = [seconds_of(each) for each in headers.getlist("Retry-After")]
        assert all(each is None or each >= 0 for each in seconds)
        return type(response), target, [each is None for each in seconds], response.headers

    return run


def _robots(_: Path) -> Run:
    def run(data: bytes) -> object:
        body = grown(data)
        sitemaps = sitemaps_in_robots(body)
        declared = [*of_robots_file(usage_rules_for("our-bot", body)), *of_tdm_file(body)]
        assert from_json(to_json(declared)) == declared
        told = HostRules(declared).of(URL), list(labels(declared))
        try:
            rules = rules_for("our-bot", body)
        except TooManyWildcardsError:
            return sitemaps, told
        book = RuleBook()
        may = [book.may_fetch(url, rules) for url in (URL, f"http://a.example/%2a/ä{'a' * 500}")]
        delay = book.delay_seconds(rules)
        assert 0 <= delay < float("inf")
        return sitemaps, told, rules, may, delay

    return run


def _sitemaps(_: Path) -> Run:
    def run(data: bytes) -> object:
        try:
            return read_sitemap(grown(data))
        except SitemapError as error:
            return told(error)

    return run


def _search_indexes(_: Path) -> Run:
    def run(data: bytes) -> object:
        body = grown(data)
        found: list[object] = [index_addresses(body.decode("utf-8", "replace"), URL)]
        for name in ("", f"pagefind/{ENTRY}", "pagefind/a.pf_meta", "pagefind/b/a.pf_fragment"):
            try:
                found.append(read_search_index(body, URL + name))
            except SearchIndexError as error:
                found.append(told(error))
        return found

    return run


def _texts(_: Path) -> Run:
    def run(data: bytes) -> object:
        deduplicator, verdicts = Deduplicator(), []
        texts = grown(data, 32_768).decode("utf-8", "surrogateescape").split("\x03")[:6]
        for number, text in enumerate(texts):
            title, _, rest = text.partition("\n")
            document = Document(id=str(number), text=rest, title=title, url=URL, heading=title)
            verdicts.append(deduplicator.process(document))
            assert deduplicator.find(document) or not len(document.shingles), "not found again"
        return verdicts

    return run


def _requests(_: Path) -> Run:
    spider = SiteSpider(url=URL)

    def run(data: bytes) -> object:
        try:
            request = from_bytes(grown(data), spider)
        except Exception as error:  # noqa: BLE001 -- the queue counts whatever the bytes bring about
            return type(error)
        with suppress(ValueError):
            return to_bytes(request, spider)
        return None

    return run


TARGETS: dict[str, Make] = {
    "urls": _urls,
    "pages": _pages,
    "headers": _headers,
    "robots": _robots,
    "sitemaps": _sitemaps,
    "search_indexes": _search_indexes,
    "texts": _texts,
    "requests": _requests,
}
