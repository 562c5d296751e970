"""How often there were more candidates than are compared."""

from dedup import DedupConfig, Deduplicator, Document


def page(number: int) -> Document:
    """Fifty-eight sentences of its own, and a long one that all pages have."""
    own = " ".join(f"word{number}a{place} said so." for place in range(58))
    return Document(
        str(number), f"{own} {'The same long sentence stands on every page of it ' * 2}."
    )


def reached(max_candidates: int) -> int:
    deduplicator = Deduplicator(config=DedupConfig(max_candidates=max_candidates))
    for number in range(8):
        assert deduplicator.process(page(number)).match is None
    return sum(getattr(each, "limit_reached", 0) for each in deduplicator.detectors)


def test_the_limit_is_counted_where_it_binds() -> None:
    assert reached(8) == 0
    assert reached(7) == 0  # the last page has seven before it
    assert reached(5) == 2  # the seventh page and the eighth
