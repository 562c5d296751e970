"""What is left out of the texts of each host."""

from __future__ import annotations

from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from dedup.report.page import write_report
from tests.dedup.report.site_job import HOST, data_of, job_of, read_pages


def test_boxes_of_a_few_pages_are_joined(tmp_path: Path) -> None:
    (site,) = data_of(job_of(tmp_path, read_pages(12)))["sites"]
    assert (site["host"], site["pages"], site["counted"], site["sampled"]) == (HOST, 12, 12, 5)
    assert site["box"] == "body > div.document > div.body"
    assert [(box["box"], box["pages"]) for box in site["left_out"]] == [
        ("div.sphinxsidebar", 12),
        ("div.footer", 12),
    ]
    assert [box["is_links"] for box in site["left_out"]] == [True, False]
    assert all(box["repeated"] == 1.0 for box in site["left_out"])


def test_the_page_has_a_section_of_them(tmp_path: Path) -> None:
    text = write_report(job_of(tmp_path, read_pages(12))).read_text(encoding="utf-8")
    section = LexborHTMLParser(text).css_first("#left-out")
    assert section is not None
    assert "div.footer on 12 of 12 pages counted" in " ".join(section.text().split())


def test_hosts_of_which_nothing_is_known_are_left_out(tmp_path: Path) -> None:
    assert data_of(job_of(tmp_path, read_pages(12), is_known=False))["sites"] == []


def test_jobs_without_bodies_tell_of_no_boxes(tmp_path: Path) -> None:
    assert data_of(job_of(tmp_path, read_pages(12, body=None)))["sites"] == []
