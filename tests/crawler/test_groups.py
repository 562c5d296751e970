"""Copies on several hosts: what `dedup groups` makes of crawled sites whose history is known."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from dedup.cli import main
from dedup.store import open_store
from dedup.store.records import Claims

if TYPE_CHECKING:
    from tests.crawler.conftest import Crawler, WebSite

N_SITES = 3
FIRST = {"dates": "dates", "canonical": "canonical", "source": "source", "large": "dates"}
"""By name of a page that all sites have, of which site 0 was first: how that is known."""
UNKNOWN = ("nothing", "circle")


def add_pages(sites: list[WebSite], make: SimpleNamespace) -> None:
    def add(place: int, name: str, head: str = "", body: str = "") -> None:
        body = f"<p>{make.prose(f'{name} 2', 480)}</p>{body}"
        sites[place].routes[f"/{name}"] = make.page(name, head=head, body=body)

    names = [*FIRST, *UNKNOWN]
    for place, site in enumerate(sites):
        site.routes["/"] = make.page(f"start {place}", *names, "alone")
        there, back = f"{sites[0].url}source", f"{sites[place - 1].url}circle"
        day = f'<meta property="article:published_time" content="2026-03-0{1 + 2 * place}">'
        add(place, "dates", head=day)
        add(place, "large", head=day + "<meta name=a content=b>" * 3_000)
        add(place, "canonical", head=f'<link rel=canonical href="{sites[0].url}canonical">')
        add(place, "source", body=f'<p>来源：<a href="{there}">town</a></p>' if place else "")
        add(place, "circle", head=f'<link rel=canonical href="{back}">')
        add(place, "nothing")
        add(place, "alone", body=f"<p>{make.prose(f'alone {place}', 480)}</p>")


def expected_claims(sites: list[WebSite], url: str) -> Claims:
    """What a page declares."""
    site, _, name = url.rpartition("/")
    place = [f"{site}/" == each.url for each in sites].index(True)
    canonical = {"canonical": 0, "circle": place - 1}.get(name)
    return Claims(
        f"2026-03-0{1 + 2 * place}" if name in ("dates", "large") else None,
        None if canonical is None else f"{sites[canonical].url}{name}",
        (f"{sites[0].url}source",) if name == "source" and place else (),
    )


def check_claims(job: str, sites: list[WebSite]) -> None:
    """Each dropped page's claims are recorded."""
    with open_store(job, read_only=True) as store:
        copies = store.exports.copies
        dropped = [row for number, _ in copies.groups() for row in list(copies.of(number, 9))[1:]]
        assert {row.url: row.claims for row in dropped} == {
            row.url: expected_claims(sites, row.url) for row in dropped
        }
    assert len(dropped) == (N_SITES - 1) * len([*FIRST, *UNKNOWN])


def listed(job: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    path = folder / "groups.jsonl"
    assert main(["groups", job, "-o", str(path), "--overwrite", *options]) == 0
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["pages"][0]["url"].rpartition("/")[2]: row for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "bodies"), [("folder", "1"), ("postgresql", "0"), ("processes", "1")]
)
def test_who_was_first(
    crawl: Crawler,
    make: SimpleNamespace,
    kind: str,
    bodies: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    job, options = str(crawl.jobs_dir / "job"), ["-s", f"DEDUP_STORE_BODIES={bodies}"]
    arguments = {"job": "job"}
    if kind == "postgresql":
        job = request.getfixturevalue("new_place")()
        address, _, arguments["job"] = job.rpartition("#")
        options += ["-s", f"DEDUP_STORE={address}"]
    elif kind == "processes":
        options += ["-s", "DEDUP_PROCESSES=2"]
    with ExitStack() as stack:
        hosts = (f"127.0.0.{place + 2}" for place in range(N_SITES))
        sites = [stack.enter_context(make.WebSite(None, host)) for host in hosts]
        add_pages(sites, make)
        urls = ",".join(site.url for site in reversed(sites))
        crawled = crawl("site", *options, url=urls, **arguments)
    assert crawled.status == 0, crawled.output
    check_claims(job, sites)
    rows = by_name(listed(job, tmp_path))
    assert rows.keys() == {*FIRST, *UNKNOWN}
    for name, basis in FIRST.items():
        row = rows[name]
        assert (row["first"], row["basis"]) == (f"{sites[0].url}{name}", basis), row["grounds"]
        assert row["n_pages"] == len(row["pages"]) == N_SITES
    for name in UNKNOWN:
        assert (rows[name]["first"], rows[name]["basis"]) == (None, "unknown")
    own = [site.url.split("/")[2] for site in sites]
    pairs = {(row["host"], row["other"]): row for row in listed(job, tmp_path, "--hosts")}
    for copier, days in zip(own[1:], (2.0, 4.0), strict=True):
        pair = pairs[copier, own[0]]
        assert (pair["copied"], pair["first"], pair["median_days"]) == (len(FIRST), 0, days)
    assert sum(row["unknown"] for row in pairs.values()) == len(UNKNOWN) * (N_SITES - 1)
    report = tmp_path / "report.html"
    assert main(["report", job, "-o", str(report)]) == 0
    assert "Hosts that share pages" in report.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["groups", job]) == 0
    assert f"first: {sites[0].url}source (source)" in capsys.readouterr().out


def test_copies_on_one_host_say_nothing(
    crawl: Crawler, site: WebSite, make: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    site.routes |= {"/": make.page("start", "a", "b"), "/a": make.page("x"), "/b": make.page("x")}
    crawled = crawl("site", url=site.url)
    assert crawled.rows("SELECT count(*) FROM duplicates") == [1]
    assert crawled.rows("SELECT count(*) FROM claims") == [0]
    assert main(["groups", str(crawled.folder)]) == 0
    assert capsys.readouterr().out == "no page is on several hosts\n"
