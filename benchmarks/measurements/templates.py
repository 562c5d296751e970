"""Does a site's template hide duplicates, or make them up? Real articles in other sites' templates.

Run: python benchmarks/measurements/templates.py DATA_DIR

DATA_DIR holds article-extraction-benchmark/html/*.html.gz and gt.json, unpacked: real pages with
the true text of their articles (github: scrapinghub/article-extraction-benchmark). The element
that holds a page's article is cut out; what is left of the page is a template. Then

    same article: in the templates of two other sites; must be found a duplicate;
    same template: two articles in the template of a third site; must not.

For each extractor: pairs found by the default cascade, and their resemblance.
"""

import argparse
import gzip
import json
import random
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dedup import Deduplicator, Document, resemblance
from dedup.html import EXTRACTORS, decode, extract_text

_WORD = re.compile(r"\w+")
_COVERED = 0.97
_LEAST_WORDS = 150
_INVISIBLE = ["script", "style", "noscript", "template"]
"""Where pages keep a second copy of the article, as JSON."""
_MARK = "<!-- the article -->"
_SEED = 7


class Page(NamedTuple):
    name: str
    article: str
    template: str


class Pair(NamedTuple):
    first: str
    second: str


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--pairs", type=int, default=150)
    options = parser.parse_args()
    pages = take_apart(options.data_dir)
    same_article, same_template = made_up_pairs(pages, options.pairs)
    print(f"{len(pages)} pages taken apart; {options.pairs} pairs of each kind")
    print(f"{'':14}same article: found  resemblance 10%, median   same template: found  highest")
    for name, extract in _extractors().items():
        found, resemblances = judge(same_article, extract)
        false, others = judge(same_template, extract)
        tenth, median = resemblances[len(resemblances) // 10], statistics.median(resemblances)
        print(
            f"{name:14}{found:13} {found / len(same_article):6.3f}{tenth:16.3f}{median:9.3f}"
            f"{false:22}{others[-1]:10.3f}"
        )


def take_apart(data_dir: Path) -> list[Page]:
    """Cut the article out of each page where one element holds it, and something is left."""
    truth = json.loads((data_dir / "gt.json").read_text())
    pages = []
    for name in sorted(truth):
        body = (data_dir / f"article-extraction-benchmark/html/{name}.html.gz").read_bytes()
        tree = LexborHTMLParser(decode(gzip.decompress(body)).text)
        tree.strip_tags(_INVISIBLE)
        words = set(_WORD.findall(truth[name]["articleBody"]))
        if tree.body is None or len(words) < _LEAST_WORDS:
            continue
        article = article_element(tree.body, words).html or ""
        whole = tree.html or ""
        template = whole.replace(article, _MARK, 1)
        if template.count(_MARK) == 1 and len(LexborHTMLParser(template).body.text()) > 500:  # type: ignore[union-attr]
            pages.append(Page(name, article, template))
    return pages


def article_element(element: LexborNode, words: set[str]) -> LexborNode:
    """Descend while one child holds nearly all words of the article."""
    for child in element.iter(include_text=False):
        own = set(_WORD.findall(child.text(separator=" ")))
        if len(words & own) >= _COVERED * len(words):
            return article_element(child, words)
    return element


def made_up_pairs(pages: list[Page], count: int) -> tuple[list[Pair], list[Pair]]:
    choose = random.Random(_SEED)
    same_article, same_template = [], []
    for _ in range(count):
        one, other, third = choose.sample(pages, 3)
        same_article.append(Pair(put(one, other), put(one, third)))
        same_template.append(Pair(put(one, third), put(other, third)))
    return same_article, same_template


def put(article: Page, template: Page) -> str:
    return template.template.replace(_MARK, article.article, 1)


def judge(pairs: list[Pair], extract: Callable[[str], str]) -> tuple[int, list[float]]:
    """How many second pages are dropped for the first; all resemblances, ascending."""
    found, resemblances = 0, []
    for pair in pairs:
        first, second = (Document(id=html[:0], text=extract(html)) for html in pair)
        deduplicator = Deduplicator()
        deduplicator.process(first)
        found += deduplicator.process(second).is_duplicate
        resemblances.append(resemblance(first.shingles, second.shingles))
    return found, sorted(resemblances)


def _extractors() -> dict[str, Callable[[str], str]]:
    found: dict[str, Callable[[str], str]] = {}
    for name in EXTRACTORS:
        try:
            extract_text("<p>x</p>", extractor=name)
        except ModuleNotFoundError as error:
            print(error)
        else:
            found[name] = lambda html, name=name: extract_text(html, extractor=name)  # type: ignore[misc]
    return found


if __name__ == "__main__":
    main()
