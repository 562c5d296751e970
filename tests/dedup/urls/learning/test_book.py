"""Rules of more hosts than memory holds are as those of few."""

import pytest

from dedup.store.memory.url_knowledge import MemoryUrlKnowledge
from dedup.urls.learning import book
from dedup.urls.learning.book import RuleBook


@pytest.mark.parametrize("in_memory", [1, 50, 10_000])
def test_changes_are_kept_whatever_memory_holds(
    in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "_IN_MEMORY", in_memory)
    knowledge = MemoryUrlKnowledge()
    rules = RuleBook(knowledge)
    for visit in range(3):
        for number in range(40):
            for name in ("slash", "index"):
                rule = rules.rule(name, f"{number}.example")
                assert rule is not None
                assert rule.pairs == visit
                rule.pairs += 1
                rules.change(rule)
    rules.save()
    assert [rule.pairs for rule in knowledge.all_rules()] == [3] * 80


def test_memory_holds_the_hosts_that_were_asked_for_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_IN_MEMORY", 10)
    asked: list[str] = []

    class Knowledge(MemoryUrlKnowledge):
        def rules(self, host: str) -> list[book.HostRule]:
            asked.append(host)
            return super().rules(host)

    rules = RuleBook(Knowledge())
    for number in range(30):
        rules.rules("first")
        rules.rules(str(number))
    assert asked.count("first") == 1
    rules.rules("29")
    rules.rules("5")
    assert asked[-2:] == ["29", "5"]
