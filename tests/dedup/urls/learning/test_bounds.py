"""The numbers of probes and audits, against the probabilities that they are to bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup.urls.learning.bounds import AUDIT_RATE, audit_rate, budget, max_lost, n_probes


@pytest.mark.parametrize("n_lost", [1, 2, 5, 10, 100, 10_000])
def test_a_rule_that_would_lose_more_is_found_out(n_lost: int) -> None:
    rate = audit_rate(n_lost)
    assert (1 - rate) ** (n_lost + 1) <= 0.05 + 1e-9
    assert rate == AUDIT_RATE or (1 - rate) ** n_lost > 0.05


@given(st.integers(1, 100_000))
def test_the_bound_of_a_rate_is_what_the_rate_was_made_for(n_lost: int) -> None:
    rate = audit_rate(n_lost)
    assert max_lost(rate) == (n_lost if rate > AUDIT_RATE else max_lost(AUDIT_RATE))
    assert max_lost(rate) <= n_lost


def test_all_fetched_loses_none() -> None:
    assert max_lost(1.0) == 0


@given(st.floats(1e-9, 0.999))
def test_probes_grow_as_the_loss_falls(loss: float) -> None:
    assert 10 <= n_probes(loss) <= n_probes(loss / 2) <= 299


@pytest.mark.parametrize(
    ("loss", "pages", "rules", "expected"),
    [(0.001, 10_000, 1, 10), (0.001, 10_000, 3, 3), (0.001, 50, 1, 1), (0.5, 0, 0, 1)],
)
def test_the_budget_is_shared_by_the_rules(
    loss: float, pages: int, rules: int, expected: int
) -> None:
    assert budget(loss, pages, rules) == expected
