"""`dedup mcp`, asked by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from dedup.cli import main
from dedup.jobs.job import Job
from dedup.mcp.server import make_server
from tests.released_job import FOLDER, unpack


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jobs") / "demo"
    unpack(sorted(FOLDER.glob("*.sqlite.zst"))[-1], folder)
    return folder


def asked(server: Any, ask: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await ask(client)

    return asyncio.run(run())


def value(result: Any) -> Any:
    assert not result.is_error, result.content
    found = result.structured_content
    return found.get("result", found)


def test_tools_are_described_and_only_read(folder: Path) -> None:
    tools = asked(make_server({"demo": Job(folder)}), lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {"search", "page", "why", "changes", "seen", "stats"}
    assert all(tool.description and tool.annotations.read_only_hint for tool in tools)


def test_a_model_searches_reads_and_asks_why(folder: Path) -> None:
    async def ask(client: Client) -> list[Any]:
        found = value(await client.call_tool("search", {"words": "oolong"}))
        page = value(await client.call_tool("page", {"url": found[0]["url"]}))
        short = next(row for row in Job(folder).pages() if row["url"].endswith("/garden.html"))
        why = value(await client.call_tool("why", {"url": found[0]["url"], "job": "demo"}))
        asked = {"text": short["text"], "title": short["title"]}
        seen = value(await client.call_tool("seen", asked))
        stats = value(await client.call_tool("stats", {}))
        return [found, page, why, seen, stats]

    before = (folder / "crawl.sqlite").read_bytes()
    found, page, why, seen, stats = asked(make_server({"demo": Job(folder)}), ask)
    assert "oolong" in found[0]["excerpt"].lower() + found[0]["title"].lower()
    assert page["text"]
    assert page["next"] is None
    assert why[0]["outcome"] == "stored"
    assert (seen["seen"], seen["url"][-12:]) == (True, "/garden.html")
    assert stats["pages"]["unique"] == 39
    assert (folder / "crawl.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("page", {"url": "http://nowhere.example/"}, "the job has no page"),
        ("page", {"url": "no url"}, "URL must be a page's URL"),
        ("search", {"words": "?"}, "words must have a letter"),
        ("stats", {"job": "other"}, "job must be one of demo, got 'other'"),
        ("changes", {"since": "yesterday"}, "since must be an ISO 8601"),
    ],
)
def test_mistakes_are_told(folder: Path, tool: str, arguments: dict[str, Any], said: str) -> None:
    server = make_server({"demo": Job(folder)})
    result = asked(server, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    assert said in result.content[0].text


def test_jobs_of_one_name_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", str(folder), str(folder)]) == 2
    assert "different names" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_speaks_on_standard_output(folder: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "dedup.cli", "mcp", str(folder)]
    )
    stats = asked(command, lambda client: client.call_tool("stats", {}))
    assert value(stats)["pages"]["unique"] == 39
