"""Compares the extractors of main text on real pages.

Run: python benchmarks/measurements/extraction.py DATA_DIR

DATA_DIR holds, unpacked, any of:
    article-extraction-benchmark/html/*.html.gz and gt.json: articles with their true text,
        scored by the benchmark's own measure (github: scrapinghub/article-extraction-benchmark);
    kafka-docs-3.3-3.5/{33,34,35}/**/*.html: documentation, where pages must not lose what tells
        them apart;
    chinese-news-html/**/*.html: no truth; what can be seen without it.
"""

import argparse
import gzip
import json
import platform
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from dedup.html import EXTRACTORS, decode, extract_text

Extractor = Callable[[str], str]
_WORD = re.compile(r"\w+")
_HAN = re.compile("[\u4e00-\u9fff]")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data_dir", type=Path)
    data_dir: Path = parser.parse_args().data_dir
    packages = ("resiliparse", "selectolax", "trafilatura")
    print("Python", platform.python_version(), *(f"{name} {_version(name)}" for name in packages))
    extractors = _extractors()
    if (truth_path := data_dir / "gt.json").exists():
        compare_articles(extractors, data_dir / "article-extraction-benchmark/html", truth_path)
    if (docs := data_dir / "kafka-docs-3.3-3.5").exists():
        compare_documentation(extractors, docs)
    if (news := data_dir / "chinese-news-html").exists():
        compare_chinese(extractors, news)


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "missing"


def _extractors() -> dict[str, Extractor]:
    found: dict[str, Extractor] = {"lexbor, all text": _lexbor_text}
    for name in EXTRACTORS:
        try:
            extract_text("<p>x</p>", extractor=name)
        except ModuleNotFoundError as error:
            print(error)
        else:
            found[name] = lambda html, name=name: extract_text(html, extractor=name)
    return found


def _lexbor_text(html: str) -> str:
    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style", "noscript"])
    return tree.body.text(separator="\n") if tree.body else ""


def compare_articles(extractors: dict[str, Extractor], folder: Path, truth_path: Path) -> None:
    truth = {name: page["articleBody"] for name, page in json.loads(truth_path.read_text()).items()}
    pages = {
        name: decode(gzip.decompress((folder / f"{name}.html.gz").read_bytes())).text
        for name in truth
    }
    print(f"\n{len(truth)} articles\n{'':18}precision recall    F1  accuracy  ms median")
    for name, extract in extractors.items():
        texts, milliseconds = _timed(extract, pages.values())
        scores = [_overlap(true, text) for true, text in zip(truth.values(), texts, strict=True)]
        precision = statistics.mean(tp / (tp + fp) for tp, fp, _ in scores if tp + fp)
        recall = statistics.mean(tp / (tp + fn) for tp, _, fn in scores if tp + fn)
        accuracy = statistics.mean(
            _WORD.findall(true) == _WORD.findall(text)
            for true, text in zip(truth.values(), texts, strict=True)
        )
        f1 = 2 * precision * recall / (precision + recall)
        print(
            f"{name:18}{precision:9.3f}{recall:7.3f}{f1:7.3f}{accuracy:9.3f}"
            f"{statistics.median(milliseconds):11.2f}"
        )


def compare_documentation(extractors: dict[str, Extractor], folder: Path) -> None:
    paths = sorted(folder.glob("*/**/*.html"))
    pages = [decode(path.read_bytes()).text for path in paths]
    versions = [path.relative_to(folder).parts[0] for path in paths]
    visible = [_shingles(_lexbor_text(page)) for page in pages]
    print(f"\n{len(pages)} pages of documentation")
    print(f"{'':18}under 50 shingles  same text, other page (groups: pages)  ms median    mean")
    for name, extract in extractors.items():
        texts, milliseconds = _timed(extract, pages)
        n_short = sum(len(_shingles(text)) < 50 for text in texts)
        same: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for index, text in enumerate(texts):
            same[versions[index], text.strip()].append(index)
        lost = [group for group in same.values() if _least_resemblance(group, visible) < 0.8]
        print(
            f"{name:18}{n_short:17}{len(lost):25}: {sum(map(len, lost)):4}"
            f"{statistics.median(milliseconds):19.2f}{statistics.mean(milliseconds):8.2f}"
        )


def compare_chinese(extractors: dict[str, Extractor], folder: Path) -> None:
    pages = [decode(path.read_bytes()).text for path in sorted(folder.glob("**/*.html"))]
    n_broken = sum(page.count("\ufffd") for page in pages)
    print(f"\n{len(pages)} Chinese pages, {n_broken} replacement characters in the pages")
    print(f"{'':18}characters median  share Han  replacement  under 100 characters  ms median")
    for name, extract in extractors.items():
        texts, milliseconds = _timed(extract, pages)
        joined = "".join("".join(text.split()) for text in texts)
        print(
            f"{name:18}{statistics.median(map(len, texts)):17.0f}"
            f"{len(_HAN.findall(joined)) / len(joined):11.2f}{joined.count(chr(0xFFFD)):13}"
            f"{sum(len(text) < 100 for text in texts):22}{statistics.median(milliseconds):11.2f}"
        )


def _timed(extract: Extractor, pages: Iterable[str]) -> tuple[list[str], list[float]]:
    texts, milliseconds = [], []
    for page in pages:
        start = time.perf_counter()
        texts.append(extract(page))
        milliseconds.append((time.perf_counter() - start) * 1e3)
    return texts, milliseconds


def _overlap(true: str, text: str) -> tuple[float, float, float]:
    """True positive, false positive, false negative 4-grams of words, as multisets."""
    expected, found = _ngrams(true, 4), _ngrams(text, 4)
    n_common = (expected & found).total()
    return n_common, found.total() - n_common, expected.total() - n_common


def _ngrams(text: str, size: int) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    ngrams = (tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1)))
    return Counter(ngram for ngram in ngrams if ngram)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _least_resemblance(group: list[int], visible: list[frozenset[tuple[str, ...]]]) -> float:
    first = visible[group[0]]
    return min(
        (len(first & visible[i]) / max(1, len(first | visible[i])) for i in group[1:]), default=1.0
    )


if __name__ == "__main__":
    main()
