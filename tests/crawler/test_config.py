import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scrapy.settings import BaseSettings

from dedup.scrapy import default_settings
from dedup.scrapy.config import CrawlConfig
from dedup.scrapy.job.place import file_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docs.example.org", "docs.example.org"),
        ("site-example.org-8000_x", "site-example.org-8000_x"),
        ("../../etc", r"etc-[0-9a-f]{8}"),
        ("..", r"job-[0-9a-f]{8}"),
        (".hidden", r"hidden-[0-9a-f]{8}"),
        ("a/b\\c:d", r"a-b-c-d-[0-9a-f]{8}"),
        ("中文", r"job-[0-9a-f]{8}"),
        ("a\0b", r"a-b-[0-9a-f]{8}"),
        ("\udcff", r"job-[0-9a-f]{8}"),  # what the command line makes of the byte FF
        ("", r"job-[0-9a-f]{8}"),
        ("a" * 79 + "." + "a" * 200, r"a{79}-[0-9a-f]{8}"),
    ],
)
def test_file_names(name, expected):
    assert re.fullmatch(expected, file_name(name))


@hypothesis_settings(deadline=None)
@given(st.text(st.characters()), st.text(st.characters()))
def test_any_name_gives_a_safe_file_name_of_its_own(one, other):
    assert re.fullmatch(r"\w([\w.-]*\w)?", file_name(one), re.ASCII)
    assert len(file_name(one)) <= 89
    assert file_name(one) == file_name(one)
    assert (file_name(one) == file_name(other)) == (one == other)


def config(**changed):
    settings = BaseSettings()
    settings.setmodule(default_settings)
    settings.update(changed)
    return CrawlConfig.from_settings(settings)


def test_numbers_given_on_the_command_line_are_read():
    assert config(DEDUP_HOST_PAGES="7").host_pages == 7
    assert config(DEDUP_NEAR_RESEMBLANCE="0.9").detection.near_resemblance == 0.9
    assert config(DEDUP_INDEX_MEMORY_MB="100").detection.index_bytes == 100 * 2**20


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEDUP_HOST_PAGES", -1),
        ("DEDUP_HOST_PAGES", "many"),
        ("DEDUP_HOST_PAGES", 2.5),  # not cut to 2
        ("DEDUP_HOST_PAGES", float("inf")),
        ("DEDUP_HOST_PAGES", None),
        ("DEDUP_HOST_WAIT_SECONDS", float("nan")),
        ("DEDUP_HISTORY_DAYS", -1),
        ("DEDUP_WORKER_LEASE_SECONDS", 4),
        ("DEDUP_READ_CPU_SECONDS", 3601),
        ("DEDUP_NEAR_RESEMBLANCE", 1.01),
        ("DEDUP_SIMHASH_DISTANCE", 8),
        ("DEDUP_INDEX_MEMORY_MB", 63),
        ("DEDUP_INDEX_MEMORY_MB", "2 GB"),
        ("DEDUP_PROGRESS", "loud"),
        ("DEDUP_PROMETHEUS_FILE", "metrics.txt"),
        ("DEDUP_READ_CPU_SECONDS", "0"),
        ("DEDUP_URL_CANONICAL", "sometimes"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_rule(name, value):
    rule = rf"^{name} must be .*, got {re.escape(repr(value))}$"
    with pytest.raises(ValueError, match=rule):
        config(**{name: value})
