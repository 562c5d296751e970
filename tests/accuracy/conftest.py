"""A corpus of the project's own: fourteen articles and what is done to articles on the way."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from dedup import Document

ARTICLES = Path(__file__).parent / "fixtures" / "articles.jsonl"


def _middle(text: str) -> int:
    return text.index(" ", len(text) // 2) if " " in text[len(text) // 2 :] else len(text) // 2


def _with_date(text: str, year: int) -> str:
    return f"{text}\nUpdated 3 May {year} 更新于{year}年5月3日"


def _with_typo(text: str) -> str:
    place = _middle(text)
    return text[:place] + "x" + text[place:]


def _with_advertisement(text: str) -> str:
    first, rest = text.split("\n", 1)
    return f"{first}\nVisit our shop: cups, caddies, scales. 欢迎光临本馆商店。\n{rest}"


def _reordered(text: str) -> str:
    title, *paragraphs = text.split("\n")
    return "\n".join((title, *paragraphs[-1:], *paragraphs[:-1]))


def _in_full_width(text: str) -> str:
    wide = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
    return text.upper().translate(wide)


ALIKE: dict[str, Callable[[str], str]] = {
    "date": lambda text: _with_date(text, 1988),
    "typo": _with_typo,
    "advertisement": _with_advertisement,
    "order": _reordered,
    "width": _in_full_width,
    "copy": lambda text: text.replace("\n", "\n\n  "),
}


def _halves(texts: list[str]) -> list[str]:
    """The first half of each and the second half of the next: alike to neither."""
    return [
        f"{first[: _middle(first)]}\n{second[_middle(second) :]}"
        for first, second in zip(texts, texts[1:] + texts[:1], strict=True)
    ]


def _forms() -> list[str]:
    """Short pages of one form, about different people: each is unique."""
    choose = random.Random(1)
    names = [f"{first} {last}" for first in ("Ada", "Bo", "Cy") for last in ("Hill", "Moor", "Fen")]
    objects = ("a caddy of tin", "two cups without saucers", "a book on fans", "the brass scales")
    return [
        f"Given by {name} in {choose.randint(1890, 1990)}: {choose.choice(objects)}, "
        f"kept in case {choose.randint(10, 99)} of room {choose.randint(1, 9)}."
        for name in names
    ]


@pytest.fixture(scope="session")
def own_corpus() -> list[Document]:
    """The articles, halves of two, short forms; then each article in six variations."""
    rows = [json.loads(line) for line in ARTICLES.read_text(encoding="utf-8").splitlines()]
    articles = {row["id"]: _with_date(row["text"], 1987) for row in rows}
    texts = dict(articles)
    texts |= {f"halves {i}": text for i, text in enumerate(_halves(list(articles.values())))}
    texts |= {f"form {i}": text for i, text in enumerate(_forms())}
    for name, change in ALIKE.items():
        texts |= {f"{id_}, {name}": change(text) for id_, text in articles.items()}
    return [Document(id=id_, text=text) for id_, text in texts.items()]
