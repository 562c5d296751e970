"""The routes of `dedup serve`, and what is asked and answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dedup.document import Document
from dedup.errors import StateError
from dedup.explain.seen import Seen
from dedup.html import decode
from dedup.serve.asking import Asking
from dedup.serve.bounds import (
    MAX_BATCH,
    MAX_TEXT_CHARACTERS,
    MAX_URL_CHARACTERS,
    Guard,
    Refused,
    refusal,
)
from dedup.serve.openapi import Operation, json_body, openapi
from dedup.sites.site import Site
from dedup.times import iso_time
from dedup.urls.parts import host_of

ReadPage = Callable[[bytes, str, str, Site | None], Awaitable[Document]]
"""Reads the document of a page from its body, URL, Content-Type and what is known of its site.

Raises `ValueError` if the page cannot be read.
"""

_T = TypeVar("_T")
_Url = Annotated[str, Field(max_length=MAX_URL_CHARACTERS)]


class Question(BaseModel):
    """A page, by its text, its HTML, or its URL alone, which is looked up and not fetched."""

    model_config = ConfigDict(extra="forbid")

    url: _Url | None = Field(None, description="of a text or HTML: where it is from")
    text: str | None = Field(None, max_length=MAX_TEXT_CHARACTERS)
    html: str | None = None
    title: str = Field("", max_length=10_000, description="of a text; short ones are found by it")

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.text is not None and self.html is not None:
            raise ValueError("only one of text and html can be asked for")
        if self.text is None and self.html is None and self.url is None:
            raise ValueError("one of url, text and html is needed")
        return self


class Answer(BaseModel):
    """Whether a job has the page, and which of its pages that is."""

    seen: bool
    job: str | None = None
    page: int | None = Field(None, description="its number there")
    url: str | None = None
    title: str | None = None
    stage: str | None = Field(None, description="what found it: url, body, text, simhash …")
    distance: int | None = Field(None, description="bits in which two fingerprints differ")
    resemblance: float | None = Field(None, description="of the texts, 0 to 1")
    date: datetime | None = Field(None, description="when that page was fetched")


class Health(BaseModel):
    """The jobs, all of which can be read."""

    jobs: list[str]


class Problem(BaseModel):
    """Why a request was not answered, in one sentence."""

    error: str


_QUESTION: TypeAdapter[Question] = TypeAdapter(Question)
_QUESTIONS: TypeAdapter[list[Question]] = TypeAdapter(
    Annotated[list[Question], Field(max_length=MAX_BATCH)]
)
_INFO = {
    "title": "dedup serve",
    "summary": "Has any of several crawls this page?",
    "version": "1",
}
_STATUSES = (400, 401, 403, 408, 413, 415, 422, 503)
_TEXT_BODY = {"schema": {"type": "string"}}


def make_app(asking: Asking, read_page: ReadPage, *, token: str | None = None) -> Starlette:
    """The application. It closes `asking` when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(asking.close)

    answers = _Answers(asking, read_page)

    async def seen(request: Request) -> Response:
        """Has a job this page? A body of text/plain or text/html is the page itself."""
        kind = _kind(request)
        if kind == "application/json":
            question = _checked(_QUESTION.validate_json, await request.body())
            return _json(await answers.of(question))
        if kind not in ("text/plain", "text/html"):
            raise Refused(415, "Content-Type must be application/json, text/plain or text/html.")
        content_type = request.headers["content-type"]
        return _json(await answers.of_body(await request.body(), content_type, kind))

    async def seen_url(request: Request) -> Response:
        """Has a job fetched this URL?"""
        url = request.query_params.get("url")
        if url is None:
            raise Refused(422, "url: Field required.")
        return _json(await answers.of(_checked(_QUESTION.validate_python, {"url": url})))

    async def seen_batch(request: Request) -> Response:
        """The answers to many questions, in their order."""
        if _kind(request) != "application/json":
            raise Refused(415, "Content-Type must be application/json.")
        questions = _checked(_QUESTIONS.validate_json, await request.body())
        found = await asyncio.gather(*map(answers.of, questions))
        return _json(b"[%b]" % b",".join(found))

    async def health(_: Request) -> Response:
        """Can all jobs be read?"""
        return _json(Health(jobs=await asking.names()).model_dump_json().encode())

    async def description(_: Request) -> Response:
        return JSONResponse(described)

    question, url = _QUESTION.json_schema(), TypeAdapter(_Url).json_schema()
    parameter = {"name": "url", "in": "query", "required": True, "schema": url}
    one = json_body(question, **{"text/plain": _TEXT_BODY, "text/html": _TEXT_BODY})
    many = json_body({"type": "array", "items": question, "maxItems": MAX_BATCH})
    operations = [
        Operation("post", "/seen", seen, Answer, one),
        Operation("get", "/seen", seen_url, Answer, {"parameters": [parameter]}),
        Operation("post", "/seen/batch", seen_batch, list[Answer], many),
        Operation("get", "/health", health, Health),
    ]
    described = openapi(_INFO, operations, Problem, _STATUSES)
    app = Starlette(
        routes=[
            *(Route(each.path, each.answer, methods=[each.method]) for each in operations),
            Route("/openapi.json", description),
        ],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={Refused: _refused, HTTPException: _http_error, StateError: _no_job},
        lifespan=lifespan,
    )
    app.state.asking = asking
    return app


class _Answers:
    """Answers in JSON."""

    def __init__(self, asking: Asking, read_page: ReadPage) -> None:
        self._asking = asking
        self._read_page = read_page

    async def of(self, question: Question) -> bytes:
        if question.html is not None:
            body, content_type = question.html.encode(), "text/html; charset=utf-8"
            return await self._of_html(body, question.url or "", content_type)
        if question.text is not None:
            url, title = question.url, question.title
            return await self._of_document(Document("", question.text, url=url, title=title))
        try:
            return _answer(await self._asking.find_url(question.url or ""))
        except ValueError as error:
            raise Refused(422, f"url must be a page's URL ({error}).") from None

    async def of_body(self, body: bytes, content_type: str, kind: str) -> bytes:
        if kind == "text/html":
            return await self._of_html(body, "", content_type)
        text = decode(body, content_type).text
        if len(text) > MAX_TEXT_CHARACTERS:
            raise Refused(422, f"The text must have at most {MAX_TEXT_CHARACTERS:,} characters.")
        return await self._of_document(Document("", text))

    async def _of_html(self, body: bytes, url: str, content_type: str) -> bytes:
        host = host_of(url)
        site = await self._asking.site(host) if host else None
        try:
            document = await self._read_page(body, url, content_type, site)
        except ValueError as error:
            raise Refused(422, f"The page cannot be read ({error}).") from None
        return await self._of_document(document)

    async def _of_document(self, document: Document) -> bytes:
        return _answer(await self._asking.find(document))


def _answer(found: Seen | None) -> bytes:
    if found is None:
        return b'{"seen":false}'
    about = found._asdict()
    answer = Answer(
        seen=True,
        page=about.pop("number"),
        date=datetime.fromisoformat(iso_time(about.pop("fetched_at"))),
        **about,
    )
    return answer.model_dump_json().encode()


def _kind(request: Request) -> str:
    """The media type of the body."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refused(415, "Content-Encoding must be identity.")
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _checked(validate: Callable[[Any], _T], given: Any) -> _T:
    try:
        return validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        status = 400 if first["type"] == "json_invalid" else 422
        raise Refused(status, _sentence(first)) from None


def _sentence(error: Any) -> str:
    place = ".".join(map(str, error["loc"]))
    return f"{f'{place}: ' if place else ''}{error['msg'].removeprefix('Value error, ')}."


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")


async def _refused(_: Request, error: Any) -> Response:
    return refusal(error)


async def _http_error(_: Request, error: Any) -> Response:
    return JSONResponse({"error": f"{error.detail}."}, error.status_code, error.headers)


async def _no_job(_: Request, error: Any) -> Response:
    return refusal(Refused(503, str(error)))
