"""The truth that changes are judged by: what differs in the containers of two states."""

from benchmarks.measurements.histories import Judge, State
from dedup.changes import Change

URLS = [f"http://site.example/{n}" for n in range(6)]


def state_of(texts: list[str]) -> State:
    words = (tuple(text.split()) for text in texts)
    pages = zip(URLS, texts, words, strict=True)
    return {url: (text.encode(), each, f"page {url[-1]} | page") for url, text, each in pages}


def judged(before: list[str], after: list[str], told: list[str]) -> dict[str, int]:
    judge = Judge(state_of(before), {})
    changes = {url: Change(url, "changed", 0.0) for url in told}
    judge.add(state_of(after), set(URLS), {}, changes)
    return {name.removeprefix("changed, "): number for name, number in judge.counts.items()}


TEXTS = [f"words of page {letter}" for letter in "abcdef"]


def test_a_page_whose_words_differ_has_changed() -> None:
    found = judged(TEXTS, [TEXTS[0] + " and more", *TEXTS[1:]], URLS[:1])
    assert (found["true"], found["told"], found["rebuilt"]) == (1, 1, 0)


def test_what_most_pages_got_alike_is_their_templates() -> None:
    labelled = [f"version 1 0 {number} {text}" for number, text in enumerate(TEXTS)]
    found = judged(TEXTS, [*labelled[:4], *TEXTS[4:]], URLS[:1])
    assert (found["true"], found["rebuilt"], found["rebuilt, told"]) == (0, 4, 1)


def test_what_half_of_the_pages_got_alike_is_their_own() -> None:
    labelled = [f"definition {text}" for text in TEXTS]
    found = judged(TEXTS, [*labelled[:3], *TEXTS[3:]], URLS[:3])
    assert (found["true"], found["rebuilt"]) == (3, 0)


def test_what_a_page_got_besides_is_its_own() -> None:
    labelled = [f"version 1 {text}" for text in TEXTS]
    found = judged(TEXTS, [labelled[0] + " and more", *labelled[1:]], [])
    assert (found["true"], found["rebuilt"]) == (1, 5)
