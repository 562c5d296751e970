"""Is Chinese found as well as English? Small edits of ten real articles in each language.

Run: python benchmarks/measurements/chinese_edits.py DATA_DIR

DATA_DIR holds chinese-news-html/tests/SITE/*.html, unpacked: real pages of Chinese sites (github:
kingname/GeneralNewsExtractor), and bbc.jsonl, English articles, `{"id", "text"}` a line. Of the
Chinese ones the main text of the first long enough page of each site is taken.

All twenty are kept by one default cascade; then each is edited, and found again or not. For each
edit and language: how many were taken for their own original, by which stages, how many each stage
finds when asked alone, and the lowest resemblance.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from opencc import OpenCC

from dedup import Deduplicator, Document, resemblance
from dedup.detectors import Detector
from dedup.html import decode, extract_text

_ARTICLES = 10
_LEAST_CHARACTERS = 600
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_NARROW = {wide: code for code, wide in _WIDE.items()}
_ADVERTISEMENTS = {
    "Chinese": "广告:秋季新茶上市,前一百名顾客立减三十元,扫描二维码关注本店,即日起至月底有效。",
    "English": "Advertisement: the autumn teas are in. Thirty per cent off for the first hundred "
    "customers who follow our shop, until the end of this month.",
}

Edit = Callable[[str], str]
_TRADITIONAL: dict[str, Edit] = {
    "traditional characters": OpenCC("s2t").convert,
    "traditional, Hong Kong": OpenCC("s2hk").convert,
    "traditional, Taiwan": OpenCC("s2tw").convert,
    "traditional, Taiwan, own words": OpenCC("s2twp").convert,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data_dir", type=Path)
    data_dir = parser.parse_args().data_dir
    articles = {
        "Chinese": [with_date(text) for text in chinese_articles(data_dir)],
        "English": [with_date(text) for text in english_articles(data_dir)],
    }
    deduplicator = Deduplicator()
    originals = [Document(text[:30], text) for texts in articles.values() for text in texts]
    verdicts = [deduplicator.process(original) for original in originals]
    if any(verdict.is_duplicate for verdict in verdicts):
        raise SystemExit("the articles must differ from each other, or the table says nothing")
    numbers = {original.text: number for number, original in enumerate(originals)}
    alone = "".join(f"{detector.stage:>10}" for detector in deduplicator.detectors)
    print(f"{'edit':32}{'language':9}caught  lowest{alone}  caught by")
    for language, texts in articles.items():
        for name, edit in edits(language).items():
            edited = {numbers[text]: Document("edited", edit(text)) for text in texts}
            lowest = min(likeness(each, originals[number]) for number, each in edited.items())
            stages = found_by(deduplicator, edited)
            caught = f"{stages.total()}/{len(texts)}"
            counts = (found_by(each, edited).total() for each in deduplicator.detectors)
            by = ", ".join(f"{stage} {count}" for stage, count in stages.most_common())
            alone = "".join(f"{count:10}" for count in counts)
            print(f"{name:32}{language:9}{caught:>6}{lowest:8.3f}{alone}  {by}")


def found_by(finder: Deduplicator | Detector, edited: dict[int, Document]) -> Counter[str]:
    """Count the stages that found the original, whose number is the key of each document."""
    stages: Counter[str] = Counter()
    for number, document in edited.items():
        match = finder.find(document)
        if match is not None and match.original == number:
            stages[match.stage] += 1
    return stages


def likeness(edited: Document, original: Document) -> float:
    if edited.text == original.text:
        raise ValueError(f"an edit must change the text, got {edited.text[:40]!r} back")
    return resemblance(edited.shingles, original.shingles)


def chinese_articles(data_dir: Path) -> list[str]:
    """One text of each site, as the default extractor finds it."""
    found: list[str] = []
    for site in sorted((data_dir / "chinese-news-html/tests").iterdir()):
        pages = (extract_text(decode(page.read_bytes()).text) for page in sorted(site.iterdir()))
        found.extend(next(([text] for text in pages if _is_long_chinese(text)), []))
    return found[:_ARTICLES]


def _is_long_chinese(text: str) -> bool:
    return len(text) >= _LEAST_CHARACTERS and len(_HAN.findall(text)) > len(text) / 2


def english_articles(data_dir: Path) -> list[str]:
    """Ten, far from each other in the file, which goes by subject."""
    lines = (data_dir / "bbc.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines[:: len(lines) // _ARTICLES]][:_ARTICLES]


def edits(language: str) -> dict[str, Edit]:
    """The edits by name, for articles of `language` with the date of `with_date`."""
    advertisement = _ADVERTISEMENTS[language]
    found: dict[str, Edit] = {
        "one character": one_character,
        "date": lambda text: text.replace("2019-09-26", "2020-01-03", 1),
        "paragraph moved": paragraph_moved,
        "advertisement": lambda text: advertisement_inserted(text, advertisement),
        "full and half width exchanged": lambda text: text.translate(_WIDE | _NARROW),
    }
    return found | _TRADITIONAL if language == "Chinese" else found


def with_date(text: str) -> str:
    """The text with a date below its first line."""
    first, _, rest = text.partition("\n")
    return f"{first}\n2019-09-26 08:30\n{rest}"


def one_character(text: str) -> str:
    place = next(i for i in range(len(text) // 2, len(text)) if text[i].isalpha())
    return text[:place] + ("x" if text[place] != "x" else "y") + text[place + 1 :]


def paragraph_moved(text: str) -> str:
    """The longest paragraph after the first of the others, or last if it is there already."""
    paragraphs = [line for line in text.split("\n") if line.strip()]
    longest = paragraphs.pop(max(range(len(paragraphs)), key=lambda i: len(paragraphs[i])))
    moved = [*paragraphs[:1], longest, *paragraphs[1:]]
    return "\n".join(moved if moved != text.split("\n") else [*paragraphs, longest])


def advertisement_inserted(text: str, advertisement: str) -> str:
    lines = text.split("\n")
    middle = len(lines) // 2
    return "\n".join((*lines[:middle], advertisement, *lines[middle:]))


if __name__ == "__main__":
    main()
