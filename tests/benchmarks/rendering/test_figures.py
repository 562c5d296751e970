from benchmarks.measurements.rendering import Measured, figures
from benchmarks.rendering.truth import TruePage
from benchmarks.sites.crawl import Crawled

WORDS = " ".join(f"word{n}" for n in range(60))
OTHER = " ".join(f"other{n}" for n in range(60))
PAGES = {
    "/": TruePage(),
    "/a/": TruePage("A", WORDS, scripted=True),
    "/b/": TruePage("B", OTHER, scripted=True),
    "/c": TruePage("C", WORDS),
    "/d": TruePage("D", OTHER, scripted=True),
}


def _crawled() -> Crawled:
    kept = [
        {"url": "http://h/", "text": "menu"},
        {"url": "http://h/a", "text": f"{WORDS} menu"},
        {"url": "http://h/elsewhere", "text": "x"},
    ]
    dropped = [
        {"url": f"http://h/{name}", "duplicate_of_url": "http://h/a", "stage": "body"}
        for name in "bc"
    ]
    return Crawled(kept, dropped, seconds=2.0, cpu_seconds=1.0)


def test_figures_count_what_was_found_stored_and_rendered() -> None:
    found = figures(PAGES, Measured(_crawled(), ["http://h/a", "http://h/c", "http://h/zzz"]))
    assert (found["true"], found["found"], found["kept"], found["dropped"]) == (5, 4, 3, 2)
    # a has its words, c those of its original; b was dropped for another text, d was not found
    assert found["recall"] == 0.5
    assert found["precision"] == round(60 / 61, 4)
    assert (found["wrong"], found["lost"]) == (1, 1)
    assert (found["needed"], found["rendered"], found["rendered_needed"]) == (3, 2, 1)
    assert found["share"] == round(2 / 3, 3)
    assert found["pages_a_second"] == 2.0


def test_pages_at_routes_are_told_apart() -> None:
    truth = {"/": TruePage(), "/#/a": TruePage("A", WORDS), "/#/b": TruePage("B", OTHER)}
    kept = [{"url": f"http://h/#/{name}", "text": text} for name, text in (("a", WORDS), ("b", ""))]
    found = figures(truth, Measured(Crawled(kept, [], seconds=1.0, cpu_seconds=1.0), []))
    assert (found["found"], found["recall"]) == (2, 0.5)
