"""What is known of a site: its versions, how they are stored, and what a crawl begins with."""

from __future__ import annotations

import pytest
from zstandard import ZstdCompressor

from dedup.sites.counts import SiteCounts
from dedup.sites.lines import PageLines
from dedup.sites.site import NAMES, learn
from dedup.sites.state import SiteState, first_state
from tests.dedup.sites.conftest import (
    blog_post,
    contribution_of,
    parsed,
    read,
    sphinx,
    title_of,
    url_of,
)


def state() -> SiteState:
    found = SiteState()
    found.begin(learn((parsed(sphinx(n)), title_of(n), url_of(n)) for n in range(NAMES)))
    for number in range(NAMES, 25):
        found.add(contribution_of(found.site, parsed(sphinx(number)), number))
    return found


def test_a_state_comes_back() -> None:
    kept = state()
    found = SiteState.from_bytes(kept.to_bytes())
    assert found.to_bytes() == kept.to_bytes()
    assert (found.site.version, found.counts.n_names) == (1, 25)
    assert [found.site_for(ahead).version for ahead in (10, 11)] == [1, 2]
    empty = SiteState.from_bytes(SiteState().to_bytes())
    assert (empty.site.version, empty.counts.n_names) == (0, 0)


def test_every_damage_of_a_state_is_a_value_error() -> None:
    data = state().to_bytes()
    for place in range(0, len(data), 37):
        for damaged in (data[:place], data[:place] + b"\xff\0\xff" + data[place + 3 :]):
            try:
                found = SiteState.from_bytes(damaged)
            except ValueError as error:
                assert "what was learned of a site is damaged" in str(error)  # noqa: PT017
            else:
                assert isinstance(found.counts, SiteCounts)


def test_oversized_state_is_refused() -> None:
    bomb = ZstdCompressor().compress(bytes(50_000_000))
    with pytest.raises(ValueError, match="is damaged"):
        SiteState.from_bytes(bomb)


Pages = list[tuple[PageLines, str, str]]


def pages(*bodies: str) -> Pages:
    numbers = range(100, 100 + len(bodies))
    return [
        (PageLines(parsed(body)), title_of(n), url_of(n))
        for n, body in zip(numbers, bodies, strict=True)
    ]


FIRST = [sphinx(n) for n in range(100, 100 + NAMES)]


def test_a_crawl_goes_on_from_what_an_earlier_one_has_learned() -> None:
    earlier = state()
    before = earlier.to_bytes()
    found = first_state(pages(*FIRST), [SiteState(), earlier])
    assert earlier.to_bytes() == before
    assert (found.counts.n_names, found.site.n_names) == (25 + NAMES, NAMES)
    assert [found.site_for(ahead).version for ahead in (0, 1)] == [1, 2]  # as in one crawl
    for number in range(200, 202):
        found.add(contribution_of(found.site, parsed(sphinx(number)), number))
    kept = SiteState.from_bytes(found.to_bytes())
    for each in (found, kept):  # but for the names of its own, another version is made soon
        assert [each.site_for(ahead).version for ahead in (15, 16)] == [2, 3]
    assert kept.to_bytes() == found.to_bytes()


def test_pages_that_were_counted_before_make_no_new_version() -> None:
    found = first_state(pages(*FIRST), [state()])
    again = first_state(pages(*FIRST), [found])
    assert again.counts.n_names == found.counts.n_names
    assert again.site is found.site
    assert not again.add(contribution_of(again.site, parsed(FIRST[0]), 100))


CHANGED = {
    "another design": [blog_post(n) for n in range(NAMES)],
    "other boxes": [body.replace("class=", "class=new-") for body in FIRST],
    "other lines": [body.replace("</a>", " anew</a>") for body in FIRST],
}


@pytest.mark.parametrize("bodies", CHANGED.values(), ids=CHANGED)
def test_a_crawl_begins_anew_where_the_template_has_changed(bodies: list[str]) -> None:
    alone = first_state(pages(*bodies))
    found = first_state(pages(*bodies), [state()])
    assert found.to_bytes() == alone.to_bytes()
    assert read(found.site, bodies[0]).text == read(alone.site, bodies[0]).text


def test_the_crawl_that_knows_most_comes_first_if_its_template_fits() -> None:
    large, small = SiteState(), state()
    others = ((parsed(blog_post(n)), title_of(n), url_of(n)) for n in range(40))
    large.begin(learn(others))
    assert first_state(pages(*FIRST), [small, large]).counts.n_names == 25 + NAMES
    larger = first_state(pages(*FIRST[:5]), [small])
    assert first_state(pages(*FIRST), [small, larger]).counts.n_names == 25 + NAMES
