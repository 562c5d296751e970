"""Knowledge that is written later is known at once, and written once."""

from dedup.store.memory.url_knowledge import MemoryUrlKnowledge
from dedup.urls.learning import HostRule, LateUrlKnowledge

A, B, C = (bytes([number]) * 16 for number in range(3))


def test_forms_are_known_before_they_are_written() -> None:
    knowledge = MemoryUrlKnowledge()
    knowledge.add_forms([(A, 1)])
    late = LateUrlKnowledge(knowledge)
    late.add_forms([(A, 9), (B, None), (C, 3)])
    late.add_forms([(B, 2), (C, 4)])
    known = {A: 1, B: 2, C: 3}  # a page that is noted stays
    assert late.forms([A, B, C]) | {A: 1} == known
    assert knowledge.forms([A, B, C]) == {A: 1}
    late.write()
    assert knowledge.forms([A, B, C]) == late.forms([A, B, C]) == known


def test_a_form_that_is_noted_without_a_page_hides_none() -> None:
    knowledge = MemoryUrlKnowledge()
    late = LateUrlKnowledge(knowledge)
    late.add_forms([(A, None)])
    knowledge.add_forms([(A, 1)])
    assert late.forms([A]) == {A: 1}


def test_rules_have_numbers_at_once_and_changes_later() -> None:
    knowledge = MemoryUrlKnowledge()
    late = LateUrlKnowledge(knowledge)
    rule = HostRule(0, "a.example", "slash")
    late.put_rules([rule])
    assert rule.number == knowledge.rules("a.example")[0].number > 0
    rule.pairs = 3
    late.put_rules([rule])
    assert knowledge.rules("a.example")[0].pairs == 0
    assert late.rules("a.example")[0].pairs == 3
    late.write()
    assert [each.pairs for each in knowledge.all_rules()] == [3]
