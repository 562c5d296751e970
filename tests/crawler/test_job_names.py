"""The names of jobs that are made from a file of URLs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import BaseSettings

from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.place import JobPlace, file_name
from dedup.scrapy.spiders.urls import UrlsSpider
from dedup.store import open_store
from dedup.store.postgresql import name_like


def place_of(file: Path, jobs_dir: Path) -> JobPlace:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("http://127.0.0.1:9/\n", encoding="utf-8")
    settings = BaseSettings()
    settings.setmodule(default_settings)
    settings.update({"DEDUP_JOBS_DIR": str(jobs_dir), "DEDUP_KEEP_JOBS": True})
    return JobPlace(CrawlConfig.from_settings(settings), UrlsSpider(file=str(file)))


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("pages.txt", "urls-pages.txt-"),
        ("列表 1.txt", "urls-1.txt-"),
        ("列表", "urls-list-"),
        ("x" * 200, f"urls-{'x' * 30}-"),
    ],
)
def test_job_of_a_list_has_the_name_of_the_file_and_a_digest(
    tmp_path: Path, name: str, begins: str
) -> None:
    found = place_of(tmp_path / "a" / name, tmp_path).folder.name
    assert found.startswith(begins)
    assert len(found) == len(begins) + 8
    assert place_of(tmp_path / "b" / name, tmp_path).folder.name != found
    assert name_like(found)[-8:] == found[-8:]  # in PostgreSQL, too


def test_job_of_an_earlier_release_is_found_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "pages.txt"
    former = tmp_path / "jobs" / file_name(f"urls-{file.resolve()}")
    assert place_of(file, former.parent).folder != former
    open_store(former).close()
    assert place_of(file, former.parent).folder == former
