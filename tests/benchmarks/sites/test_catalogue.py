import re
from pathlib import Path

import pytest

from benchmarks.sites.catalogue import SITES, read_sites, split
from benchmarks.sites.container import Container

pytestmark = pytest.mark.slow

SITE_FOLDER = Path("sites")


def test_every_site_can_be_judged():
    sites = read_sites(SITE_FOLDER)
    assert len(sites) == len({site.name for site in sites}) == 45
    for site in sites:
        Container(site.select, site.remove)  # raises where it is no CSS
        assert site.folder == SITE_FOLDER / site.name
    with_lists = {site.name for site in sites if site.lists}
    assert {"mohu", "imakethecase"} <= with_lists
    assert "vellum" not in with_lists


def test_sites_are_read_by_name_in_the_order_asked_for():
    vellum, commmp = read_sites(SITE_FOLDER, ["vellum", "commmp"])
    assert vellum.starts == ("index.htm",)
    assert vellum.hosts == vellum.lists == ()
    assert commmp.starts == ("index.html", "shop/")
    assert commmp.hosts == ("www.commmp.com", "commmp.com")
    assert (vellum.remove, commmp.remove) == ("", ".related")


def test_a_site_without_a_start_begins_at_its_root():
    (site,) = read_sites(SITE_FOLDER, ["111qqz"])
    assert site.starts == ("",)


def test_names_must_be_in_the_catalogue():
    with pytest.raises(ValueError, match=r"NAME must be among hexo-blog, .*, got none, other"):
        read_sites(SITE_FOLDER, ["none", "vellum", "other"])


def test_every_row_has_all_columns_and_says_where_the_site_is_from():
    header, *rows = (line.split("\t") for line in SITES.read_text(encoding="utf-8").splitlines())
    assert header == ["site", "source", "start", "list", "rewrite", "content", "furniture"]
    for row in rows:
        assert len(row) == len(header)
        assert re.match(
            r"public repository [\w.-]+/[\w.-]+(, |$)|Debian packages? \S|Apache Kafka's site",
            row[1],
        )


@pytest.mark.parametrize(
    ("text", "parts"), [("-", ()), ("", ()), ("a", ("a",)), (" a, b/,", ("a", "b/"))]
)
def test_lists_are_split_at_commas(text, parts):
    assert split(text) == parts
