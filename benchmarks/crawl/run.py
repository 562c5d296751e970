"""Rounds of crawls of one site by all contenders in turn, and what they cost."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.crawl.contenders import CONTENDERS, URLS, Contender, environment
from benchmarks.crawl.server import Answer, Nginx
from benchmarks.measure import spread

_MOST_SECONDS = 1_800  # for one crawl
_MEASURED = Path(__file__).parent / "scripts" / "measured.py"
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Crawl:
    """One crawl by one contender.

    Attributes:
        pages: paths answered with HTML, by the server's log.
        recorded: pages that the contender says it took; None: it does not say.
        answers: answers of any kind, repeated ones too.
        seconds: from the first answer to the end of the process.
        process_seconds: of the process, its start included.
        cpu_seconds: user and system time of the process and its children, its start included.
        own_cpu_seconds: of the process alone, to within a tenth of a second before its end.
        peak_bytes: most memory of the process and its children in RAM.
    """

    pages: frozenset[str]
    recorded: int | None
    answers: int
    seconds: float
    process_seconds: float
    cpu_seconds: float
    own_cpu_seconds: float
    peak_bytes: int


def compare(
    site: Path, rounds: int, contenders: Sequence[Contender] = CONTENDERS
) -> dict[str, Any]:
    """Crawl a folder of pages `rounds` times by each contender, in turn.

    `differences` in the result says where they did not find the same pages; then there is no
    further round, and the times say nothing.

    Raises:
        ValueError: there is no such folder, no nginx, or a contender failed.
    """
    if not site.is_dir():
        raise ValueError(f"SITE_DIR must be a folder, got {str(site)!r}")
    for file in site.rglob("*"):  # the first crawl should not be the one that waits for the disk
        if file.is_file():
            file.read_bytes()
    crawls: dict[str, list[Crawl]] = {each.name: [] for each in contenders}
    found: list[str] = []
    with TemporaryDirectory(prefix="dedup-bench-") as name, Nginx(site, Path(name)) as server:
        urls: list[str] = []
        for _ in range(rounds):
            for contender in contenders:
                if not contender.missing:
                    crawl, answers = run(contender, server, urls)
                    crawls[contender.name].append(crawl)
                    urls = urls or _found(answers, server.url)
            if found := differences({name: made[-1] for name, made in crawls.items() if made}):
                break
    return {
        "site": "/".join(site.resolve().parts[-2:]),  # "html" alone says little
        "contenders": [_figures(each, crawls[each.name]) for each in contenders],
        "differences": found,
    }


def run(contender: Contender, server: Nginx, urls: Sequence[str]) -> tuple[Crawl, list[Answer]]:
    """One crawl, in a process and a folder of its own; `urls` are for those that follow no links.

    Raises:
        ValueError: the contender failed, or asked the server for nothing.
    """
    with TemporaryDirectory(prefix="dedup-crawl-") as name:
        folder = Path(name)
        (folder / URLS).write_text("\n".join(urls), encoding="utf-8")
        cost = measure(contender.command(server.url), folder)
        answers = server.answers()
        errors = (folder / "errors.txt").read_text(errors="replace").strip()
        if cost["status"] or not answers:
            raise ValueError(f"{contender.name} failed with status {cost['status']}: {errors}")
        crawl = Crawl(
            pages=frozenset(answer.path for answer in answers if answer.is_page),
            recorded=contender.recorded(folder),
            answers=len(answers),
            seconds=cost["ended"] - answers[0].seconds,
            process_seconds=cost["ended"] - cost["began"],
            cpu_seconds=cost["cpu_seconds"],
            own_cpu_seconds=cost["own_cpu_seconds"],
            peak_bytes=cost["peak_bytes"],
        )
    return crawl, answers


def differences(crawls: Mapping[str, Crawl]) -> list[str]:
    """A sentence for each way in which the contenders did not find the same pages, with examples.

    The first is what the others are compared with.
    """
    first = next(iter(crawls), "")
    sentences = []
    for name in list(crawls)[1:]:
        for missing_in, there_in in ((name, first), (first, name)):
            paths = sorted(crawls[there_in].pages - crawls[missing_in].pages)
            if paths:
                examples = ", ".join(paths[:_EXAMPLES]) + (", …" if paths[_EXAMPLES:] else "")
                sentences.append(
                    f"{missing_in} missed {len(paths):,} pages that {there_in} found: {examples}"
                )
    for name, crawl in crawls.items():
        if crawl.recorded not in (None, len(crawl.pages)):
            sentences.append(
                f"{name} recorded {crawl.recorded:,} pages, and was given {len(crawl.pages):,}"
            )
    return sentences


def measure(command: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command in a folder, which gets its standard error as errors.txt, and tell its cost."""
    cost = folder / "cost.json"
    launch = [sys.executable, "-S", "-E", str(_MEASURED), str(cost), str(_MOST_SECONDS)]
    with (folder / "errors.txt").open("wb") as errors:
        subprocess.run(  # noqa: S603 -- a fixed command
            [*launch, *command],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            check=True,
        )
    figures: dict[str, Any] = json.loads(cost.read_text())
    return figures


def _found(answers: Sequence[Answer], server_url: str) -> list[str]:
    targets = dict.fromkeys(answer.target for answer in answers if answer.status == 200)
    return [server_url + target.removeprefix("/") for target in targets]


def _figures(contender: Contender, crawls: Sequence[Crawl]) -> dict[str, Any]:
    if not crawls:
        return {"name": contender.name, "missing": contender.missing}
    return {
        "name": contender.name,
        "pages": len(crawls[-1].pages),
        "answers": crawls[-1].answers,
        "pages_per_second": _spread(len(crawl.pages) / crawl.seconds for crawl in crawls),
        "cpu_seconds_per_page": _spread(crawl.cpu_seconds / len(crawl.pages) for crawl in crawls),
        "own_cpu_seconds_per_page": _spread(
            crawl.own_cpu_seconds / len(crawl.pages) for crawl in crawls
        ),
        "peak_bytes": _spread(crawl.peak_bytes for crawl in crawls),
        "process_seconds": _spread(crawl.process_seconds for crawl in crawls),
    }


def _spread(values: Iterable[float]) -> dict[str, float]:
    return asdict(spread(list(values)))
