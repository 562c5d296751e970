"""Documents in a crawl: they meet their HTML sisters; what is not read is counted."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from dedup import extras
from dedup.config import DedupConfig
from dedup.detectors.second_check import SecondCheck
from dedup.export import page_rows
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.reading.blocking_worker import BlockingWorker
from dedup.scrapy.reading.content import Content, ContentReader, RawPage, Wanted
from dedup.scrapy.reading.worker_protocol import ReadingError
from dedup.sites.outline import Box, Line, Outline
from dedup.sites.site import rest_by_itself
from dedup.store import Page, open_store
from tests.documents import Placed, docx, pdf, placed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.crawler.conftest import Crawled, Crawler, WebSite

PDF = "application/pdf"
INFO = {"Title": "Annual report", "CreationDate": "D:20190719101025Z"}
WANTED = Wanted(
    "content",
    links=True,
    is_nofollow_obeyed=True,
    bodies=False,
    stages=frozenset(),
    detection=DedupConfig(),
    cpu_seconds=1.0,
    memory_mb=400,
)
FIELDS = "url", "title", "text", "published", "pages", "markdown", "content_type"


def paper(text: str, *, is_encrypted: bool = False) -> bytes:
    """A PDF of two pages with heads and numbers."""
    lines = wrapped(text, 70)
    half = len(lines) // 2
    pages = [
        [Placed("The Institute", y=760, size=8), Placed(f"{number}", y=30), *placed(part)]
        for number, part in enumerate((lines[:half], lines[half:]), start=1)
    ]
    return pdf(pages, info=INFO, is_encrypted=is_encrypted)


@pytest.fixture(scope="module")
def served(make: SimpleNamespace) -> Iterator[WebSite]:
    text = make.prose("report", 480)
    html = f"<title>Annual report</title><main><h1>Annual report</h1><p>{text}</p></main>"
    answer = make.Answer
    routes: dict[str, Any] = {
        "/report.pdf": answer(paper(text), content_type=PDF),
        "/report.html": html.encode(),
        "/report.docx": answer(docx(text), content_type="application/msword"),
        "/own.pdf": answer(paper(make.prose("own", 480)), content_type=PDF),
        "/after-junk.pdf": answer(b"junk\r\n" + paper(make.prose("junk", 480)), content_type=PDF),
        "/labelled-html.pdf": answer(paper(make.prose("labelled", 480))),
        "/labelled-pdf.html": answer(make.page("labelled pdf"), content_type=PDF),
        "/noindex.pdf": answer(
            paper(make.prose("noindex")), content_type=PDF, headers={"X-Robots-Tag": "noindex"}
        ),
        "/encrypted.pdf": answer(paper(text, is_encrypted=True), content_type=PDF),
        "/broken.pdf": answer(paper(text)[:500], content_type=PDF),
        "/scanned.pdf": answer(pdf([[], []]), content_type=PDF),
        "/not-asked-for.odt": b"",
    }
    targets = list(routes)
    # What the site repeats is known from these, and the sister's text is surely its own.
    for number in range(12):
        routes[f"/{number}"] = make.page(f"page {number}")
    first = [f"/{number}" for number in range(12)]
    routes["/"] = make.page("start", *first, "/report.html", "/later")
    routes["/later"] = make.page("later", *targets)
    with make.WebSite(routes) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(shared_crawl: Crawler, served: WebSite) -> Crawled:
    options = "-s", "DEDUP_DOCUMENTS=pdf,docx", "-s", "CONCURRENT_REQUESTS=1"
    return shared_crawl("site", *options, feed=True, url=served.url)


def test_documents_meet_their_sisters(crawled: Crawled, served: WebSite) -> None:
    assert crawled.status == 0, crawled.output
    crawled.check_reconciled()
    pairs = crawled.rows(
        "SELECT d.url, p.url FROM duplicates AS d JOIN pages AS p ON p.number = d.original"
    )
    found = {duplicate.rpartition("/")[2]: original for duplicate, original in pairs}
    assert found.keys() == {"report.pdf", "report.docx"}
    assert set(found.values()) == {f"{served.url}report.html"}


def test_documents_are_told_by_their_content(crawled: Crawled, served: WebSite) -> None:
    sources = dict(crawled.rows("SELECT url, source FROM pages"))
    assert sources[f"{served.url}own.pdf"] == "document"
    assert sources[f"{served.url}labelled-html.pdf"] == "document"
    assert sources[f"{served.url}after-junk.pdf"] == "document"
    assert sources[f"{served.url}labelled-pdf.html"] != "document"
    assert f"{served.url}not-asked-for.odt" not in crawled.rows("SELECT url FROM urls")


def test_what_is_not_read_is_counted(crawled: Crawled, served: WebSite) -> None:
    assert crawled.skipped(served) == {
        "/noindex.pdf": "noindex",
        "/encrypted.pdf": "document_encrypted",
        "/broken.pdf": "document_broken",
        "/scanned.pdf": "document_scanned",
    }


def test_documents_are_exported_and_reported(crawled: Crawled, served: WebSite) -> None:
    with open_store(crawled.folder, read_only=True) as store:
        rows = {row["url"]: row for row in page_rows(store, FIELDS)}
    row = rows[f"{served.url}own.pdf"]
    assert row["title"] == "Annual report"
    assert row["content_type"] == PDF
    assert (row["published"], row["pages"]) == ("2019-07-19T10:10:25Z", 2)
    assert row["markdown"].split() == row["text"].split()
    assert "The Institute" not in row["text"]
    assert rows[f"{served.url}0"]["pages"] is None
    report = (crawled.folder / "report.html").read_text(encoding="utf-8")
    assert "report.pdf" in report
    assert "document_scanned" in report


def test_a_refresh_stores_new_versions_of_documents(
    crawl: Crawler, site: WebSite, make: SimpleNamespace
) -> None:
    site.routes |= {
        "/": make.page("start", "/same.pdf", "/changed.pdf"),
        "/same.pdf": make.Answer(paper(make.prose("same")), content_type=PDF),
        "/changed.pdf": make.Answer(paper(make.prose("old")), content_type=PDF),
    }
    options = "-s", "DEDUP_DOCUMENTS=pdf", "-s", "DEDUP_STORE_BODIES=0"
    crawl("site", *options, url=site.url)
    site.routes["/changed.pdf"] = make.Answer(paper(make.prose("new")), content_type=PDF)
    again = crawl("site", *options, url=site.url, refresh=1)
    assert again.status == 0, again.output
    with open_store(again.folder, read_only=True) as store:
        rows = {row["url"].rpartition("/")[2]: row for row in page_rows(store, FIELDS)}
    assert rows["changed.pdf"]["text"].split() == make.prose("new").split()
    assert rows["same.pdf"]["pages"] == rows["changed.pdf"]["pages"] == 2
    assert again.rows("SELECT count(*) FROM versions") == [1]


def test_a_page_with_more_than_its_sister_is_told_apart(make: SimpleNamespace) -> None:
    """The second look compares documents, too: there may be answers below the text of a page."""
    text = make.prose("report", 480)
    found = ContentReader(WANTED).read(RawPage(paper(text), "", PDF, (), None, "pdf"))
    sister = found.complete(Page("1", "", url="http://a.example/report.pdf"))
    check = SecondCheck.of(lambda _: sister, DedupConfig())
    for more, is_apart in (("", False), (make.prose("answers", 960), True)):
        lines = [Line(0, line, line, "p") for line in (*sister.text.split("\n"), more)]
        rest = rest_by_itself(Outline([Box(-1, "body", ())], lines))
        page = replace(sister, url="http://a.example/report.html", source="box", rest=rest)
        assert check.compare(page, sister) == 1
        assert (check.find_difference(page, sister) is not None) == is_apart


# --- Bounds --------------------------------------------------------------------------------------


@pytest.fixture
def worker() -> Iterator[BlockingWorker]:
    worker = BlockingWorker(WANTED)
    yield worker
    worker.close()


def read(worker: BlockingWorker, body: bytes, name: str = "pdf") -> str:
    """The text, or the reason why there is none."""
    try:
        found = worker.read(RawPage(body, f"http://a.example/x.{name}", "", (), None, name))
    except ReadingError as error:
        if error.reason == "parse_error":
            raise
        return error.reason
    assert isinstance(found, Content)
    return found.extracted.text


@pytest.mark.slow
def test_hostile_documents_stay_within_their_budgets(worker: BlockingWorker) -> None:
    many_pages = pdf([[Placed(f"Page {number}.")] for number in range(100_000)])
    bomb = pdf([[Placed("a" * 1_000_000)] * 400])
    loop = pdf([placed(["A text."])]).replace(b"/Kids[5 0 R]", b"/Kids[2 0 R]")
    many_paragraphs = docx(*["<w:p/>"] * 1_000_000)
    assert read(worker, many_pages) == "too_complex"
    assert read(worker, bomb) == "too_complex"
    assert read(worker, loop) in ("document_broken", "document_scanned")
    assert read(worker, many_paragraphs, "docx") == "too_complex"
    assert read(worker, paper("A text. " * 20)).split() == ["A", "text."] * 20


def test_damaged_documents_end_no_process(worker: BlockingWorker, make: SimpleNamespace) -> None:
    choose = random.Random(0)
    for body, name in ((paper(make.prose("fuzz")), "pdf"), (docx(make.prose("fuzz")), "docx")):
        for _ in range(60):
            damaged = bytearray(body)
            for place in choose.choices(range(len(body)), k=choose.choice((1, 5, 50))):
                damaged[place] = choose.randrange(256)
            read(
                worker,
                bytes(damaged[: choose.choice((len(body), choose.randrange(len(body))))]),
                name,
            )


# --- The setting ---------------------------------------------------------------------------------


def test_the_setting_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CrawlConfig.from_settings(Settings({})).documents == ()
    found = CrawlConfig.from_settings(Settings({"DEDUP_DOCUMENTS": " PDF,docx,pdf"}))
    assert found.documents == ("pdf", "docx")
    with pytest.raises(ValueError, match=r"^DEDUP_DOCUMENTS must be of pdf, docx, odt; got 'doc'$"):
        CrawlConfig.from_settings(Settings({"DEDUP_DOCUMENTS": ["pdf", "doc"]}))

    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    message = r"^DEDUP_DOCUMENTS=pdf needs a package .* pip install 'scrapy-dedup\[documents\]'$"
    with pytest.raises(ValueError, match=message):
        CrawlConfig.from_settings(Settings({"DEDUP_DOCUMENTS": "pdf"}))
    assert CrawlConfig.from_settings(Settings({"DEDUP_DOCUMENTS": "odt"})).documents == ("odt",)
