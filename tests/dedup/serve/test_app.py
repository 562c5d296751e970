"""What `dedup serve` answers, by the application in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from dedup import Deduplicator
from dedup.cli import serve
from dedup.cli.serve import PageReading
from dedup.document import Document
from dedup.errors import StateError
from dedup.serve import bounds
from dedup.serve.app import make_app
from dedup.serve.asking import Asking
from dedup.sites.site import Site
from dedup.store import Page, open_store

OLD = " ".join(f"old{n}" for n in range(200)) + ". "
NEW = " ".join(f"new{n}" for n in range(200)) + ". "
JSON = {"content-type": "application/json"}
FOUND = {
    "seen": True,
    "page": 1,
    "url": "http://a.example/old",
    "title": "old",
    "distance": None,
    "date": "1970-01-01T00:00:07Z",
}


def page(name: str, text: str) -> Page:
    return Page(id="", text=text, url=f"http://a.example/{name}", title=name, fetched_at=7.0)


async def read_page(body: bytes, url: str, content_type: str, site: Site | None) -> Document:
    """In place of processes."""
    if b"hostile" in body:
        raise ValueError("takes more than 2 s of CPU time")
    return Document(id="", text=body.decode().removeprefix("<p>"), url=url)


@pytest.fixture
def jobs(tmp_path: Path) -> list[Path]:
    for name, pages in {
        "first": [page("old", OLD), page("copy", OLD)],
        "second": [page("old", OLD), page("new", NEW)],
    }.items():
        with open_store(tmp_path / name) as store:
            judge = Deduplicator(store=store)
            for each in pages:
                judge.process(each)
    return [tmp_path / "first", tmp_path / "second"]


@pytest.fixture
def client(jobs: list[Path]) -> Iterator[TestClient]:
    with TestClient(make_app(Asking(jobs), read_page), base_url="http://localhost") as client:
        yield client


def test_the_first_job_that_has_a_page_is_named(client: TestClient, jobs: list[Path]) -> None:
    first, second = map(str, jobs)
    text = client.post("/seen", json={"text": OLD}).json()
    assert text == FOUND | {"job": first, "stage": "text", "resemblance": 1.0}
    near = client.post("/seen", content=NEW + "and more", headers={"content-type": "text/plain"})
    assert (near.json()["job"], near.json()["url"]) == (second, "http://a.example/new")
    assert 0.9 < near.json()["resemblance"] < 1
    html = client.post("/seen", content=f"<p>{OLD}", headers={"content-type": "text/html"})
    assert html.json() == client.post("/seen", json={"html": f"<p>{OLD}"}).json() == text
    assert client.post("/seen", json={"text": "Nothing of the kind."}).json() == {"seen": False}


def test_a_url_is_looked_up_in_any_form(client: TestClient, jobs: list[Path]) -> None:
    found = client.get("/seen", params={"url": "http://A.example:80/old#top"}).json()
    assert found == FOUND | {"job": str(jobs[0]), "stage": "url", "resemblance": None}
    dropped = client.post("/seen", json={"url": "http://a.example/copy"}).json()
    assert (dropped["page"], dropped["url"]) == (2, "http://a.example/copy")
    assert client.get("/seen", params={"url": "http://a.example/no"}).json() == {"seen": False}


def test_a_batch_is_answered_in_its_order(client: TestClient) -> None:
    asked = [{"text": NEW}, {"url": "http://a.example/no"}, *[{"text": OLD}] * 20, {"html": OLD}]
    answers = client.post("/seen/batch", json=asked).json()
    assert [each["seen"] for each in answers] == [True, False, *[True] * 21]
    assert client.post("/seen/batch", json=[]).json() == []


def test_openapi_names_what_is_asked_and_answered(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/seen", "/seen/batch", "/health"}
    body = described["paths"]["/seen"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "text/plain", "text/html"}
    assert "resemblance" in described["components"]["schemas"]["Answer"]["properties"]


@pytest.mark.parametrize(
    ("status", "request_", "why"),
    [
        (400, {"content": "{", "headers": JSON}, "Invalid JSON"),
        (400, {"content": '{"text": "\\ud800"}', "headers": JSON}, "Invalid JSON"),
        (403, {"json": {}, "headers": {"host": "evil.example"}}, "Host must be 127.0.0.1"),
        (403, {"json": {}, "headers": {"host": "localhost:1:2"}}, "Host must be 127.0.0.1"),
        (403, {"json": {}, "headers": {"origin": "http://evil.example"}}, "other origins"),
        (403, {"json": {}, "headers": {"origin": "http://localhost:3000"}}, "other origins"),
        (403, {"json": {}, "headers": {"sec-fetch-site": "cross-site"}}, "other origins"),
        (413, {"content": b"a" * (bounds.MAX_BODY_BYTES + 1)}, "at most 4,194,304 bytes"),
        (415, {"content": "a"}, "Content-Type must be"),
        (415, {"json": {}, "headers": {"content-encoding": "gzip"}}, "must be identity"),
        (422, {"json": {}}, "one of url, text and html is needed"),
        (422, {"json": {"text": "a", "html": "b"}}, "only one of"),
        (422, {"json": {"text": 1}}, "text: Input should be a valid string"),
        (422, {"json": {"txt": "a"}}, "txt: Extra inputs"),
        (422, {"json": {"text": "a" * 1_000_001}}, "at most 1000000 characters"),
        (422, {"json": {"url": "ftp://a.example/"}}, "url must be a page's URL"),
        (422, {"json": {"html": "hostile"}}, "takes more than 2 s"),
    ],
)
def test_wrong_input_is_told_in_a_sentence(
    client: TestClient, status: int, request_: dict[str, Any], why: str
) -> None:
    if status == 413:
        request_["headers"] = {"content-type": "text/plain"}
    answer = client.post("/seen", **request_)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert why in answer.json()["error"]


def test_a_body_that_is_declared_too_large_is_not_waited_for(client: TestClient) -> None:
    for declared in (f"{bounds.MAX_BODY_BYTES + 1}", "9" * 5_000):
        headers = {"content-type": "text/plain", "content-length": declared}
        assert client.post("/seen", content=b"a", headers=headers).status_code == 413


def test_other_routes_and_long_batches_are_refused(client: TestClient) -> None:
    answer = client.post("/seen/batch", json=[{"text": ""}] * (bounds.MAX_BATCH + 1))
    assert (answer.status_code, "at most 256 items" in answer.json()["error"]) == (422, True)
    assert client.get("/").json() == {"error": "Not Found."}
    assert client.delete("/seen").json() == {"error": "Method Not Allowed."}
    assert client.get("/seen").json() == {"error": "url: Field required."}


def test_with_a_token_each_request_needs_it(jobs: list[Path]) -> None:
    app = make_app(Asking(jobs), read_page, token="a" * 16)
    with TestClient(app, base_url="http://crawls.example") as client:
        for given in ("", "Bearer b", "Basic " + "a" * 16, "Bearer ä"):
            answer = client.get("/health", headers={"authorization": given.encode("latin-1")})
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        answer = client.get("/health", headers={"authorization": "Bearer " + "a" * 16})
        assert answer.json() == {"jobs": [str(job) for job in jobs]}


def test_too_many_requests_and_bytes_are_refused(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_MAX_READ_BYTES", 100)
    answer = client.post("/seen", json={"text": OLD})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert client.post("/seen", json={"text": "short"}).status_code == 200  # bytes are given back
    monkeypatch.setattr(bounds, "_MAX_ANSWERING", 0)
    assert "Too many requests" in client.get("/health").json()["error"]


def test_nobody_is_answered_who_has_gone(client: TestClient) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/seen", "headers": headers}
    asyncio.run(client.app({**scope, "query_string": b""}, receive, send))  # without an error
    assert sent == []


def test_what_is_no_http_is_refused_in_json() -> None:
    written: list[bytes] = []
    protocol = bounds.BoundedProtocol.__new__(bounds.BoundedProtocol)
    protocol.transport = SimpleNamespace(write=written.append, close=lambda: written.append(b""))
    protocol.send_400_response("Invalid HTTP request received.")
    (answer, end) = written
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert (json.loads(body), end) == ({"error": "Invalid HTTP request received."}, b"")


def test_a_slow_body_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 0.0)

    async def never() -> Any:
        await asyncio.get_running_loop().create_future()

    async def read() -> None:
        await bounds._Body(never, lambda _: True).receive()

    with pytest.raises(bounds.Refused, match="took more than 0 seconds") as refused:
        asyncio.run(read())
    assert refused.value.status == 408


def test_pages_that_a_crawl_adds_and_changes_are_followed(
    jobs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.serve.asking._FOLLOW_SECONDS", 0.0)
    monkeypatch.setattr("dedup.serve.followed._REST", 0)
    asking = Asking(jobs)

    def stage_of(text: str) -> str | None:
        found = asyncio.run(asking.find(Document(id="", text=text)))
        return found and found.stage

    later, other = NEW.replace("new", "later"), NEW.replace("new", "other")
    assert stage_of(later) is None
    with open_store(jobs[1]) as store:  # it is not locked, and its log can be emptied
        judge = Deduplicator(store=store)
        number = judge.add(page("later", later))
        store.commit()
        assert stage_of(later) == "text"
        found = asyncio.run(asking.find_url("http://a.example/later"))
        assert found is not None
        assert found.number == number
        changed = page("new", other)
        store.change_text(2, changed)
        store.change_signatures(2, judge.signatures(changed))
        store.commit()
        for _ in range(10):
            stage_of("another step")
        assert stage_of(other) == "text"
        assert stage_of(NEW) is None
    asking.close()


def test_a_job_that_starts_over_is_opened_again(
    jobs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.serve.asking._FOLLOW_SECONDS", 0.0)
    monkeypatch.setattr("dedup.serve.asking._REOPEN_SECONDS", 0.0)
    asking = Asking(jobs[:1])
    jobs[0].rename(jobs[0].with_name("before"))
    with pytest.raises(StateError, match="a job cannot be read"):
        asyncio.run(asking.names())
    jobs[1].rename(jobs[0])
    found = asyncio.run(asking.find(Document(id="", text=NEW)))
    assert found is not None
    assert found.job == str(jobs[0])
    asking.close()
    with pytest.raises(StateError, match="job not found"):
        Asking(jobs[1:])


@pytest.mark.slow  # starts a process
def test_pages_are_read_within_the_bounds_of_a_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = PageReading("content")

    async def text_of(body: bytes) -> str:
        return (await reading.read(body, "http://a.example/", "text/html", None)).text

    assert asyncio.run(text_of(b"<title>t</title><main><p>Some words.")) == "Some words."
    with monkeypatch.context() as patch:
        patch.setattr(serve, "_READ_CPU_SECONDS", 0.5)
        with pytest.raises(ValueError, match="CPU time"):
            asyncio.run(text_of(b"<p>a" * 1_000_000))
    assert asyncio.run(text_of(b"<main>After it.")) == "After it."
    reading.close()
