"""Planted families: groups of copies, chains of versions, short and empty texts, pages of hosts."""

import random
from typing import Any

WORDS = [f"{a}{b}{c}" for a in ("ka", "lo", "mi") for b in "bcdfghjklmnpqrst" for c in "aeiou"]


def planted(seed: int, families: int = 12) -> list[dict[str, Any]]:
    """Rows in a seeded order; chains of some families stay in order, one after the other."""
    choose = random.Random(seed)
    rows: list[dict[str, Any]] = []
    chains: list[dict[str, Any]] = []
    for family in range(families):
        base = choose.choices(WORDS, k=choose.choice([70, 120, 300]))
        kind = family % 6
        if kind == 0:  # copies, in another case or with other spaces
            spaced = ("  ".join(base), " ".join(base).upper(), "\n".join(base), " ".join(base))
            rows += [_row(choose, text) for text in spaced]
        elif kind == 1:  # near copies of one
            rows += [_row(choose, " ".join(_edited(choose, base, 2))) for _ in range(5)]
        elif kind in (2, 3):  # versions, each made of the one before
            versions = []
            for _ in range(12):
                versions.append(_row(choose, " ".join(base)))
                base = _edited(choose, base, max(len(base) // 40, 2))
            (chains if kind == 2 else rows).extend(versions)
        elif kind == 4:  # short, empty, without a word
            words = " ".join(base[:6])
            rows += [_row(choose, text) for text in (words, words.upper(), "", "  ", "?!", words)]
        else:  # Chinese
            text = "".join(
                choose.choices("的一是在不了有和人这中大为上个国我以要他时来用们生到作地", k=260)
            )
            rows += [_row(choose, each) for each in (text, text[:-3], text[5:], text + "。" + text)]
    choose.shuffle(rows)
    middle = len(rows) // 2
    found = rows[:middle] + chains + rows[middle:]
    return [{"id": number, **row} for number, row in enumerate(found)]


def _row(choose: random.Random, text: str) -> dict[str, Any]:
    host = choose.choice(["", "", "http://a.example", "http://b.example"])
    url = f"{host}/{choose.randrange(3)}.html" if host else None
    title = choose.choice(["", "One", "Two"]) if host else ""
    return {"text": text, "url": url, "title": title, "group": choose.choice("xy")}


def _edited(choose: random.Random, words: list[str], count: int) -> list[str]:
    found = list(words)
    for place in choose.sample(range(len(found)), count):
        found[place] = f"new{choose.randrange(10**6)}"
    return found


def as_pages(rows: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The rows as pages of three hosts, each with menus and footers of its own around the text."""
    choose = random.Random(seed)
    menus = {
        host: " ".join(f"<a href=/{word}>{word}</a>" for word in choose.sample(WORDS, 40))
        for host in ("a", "b", "c")
    }
    pages = []
    for row in rows:
        host, words = choose.choice("abc"), row["text"].split()
        title = " ".join(choose.choices(WORDS, k=2)) if choose.random() < 0.7 else "Contents"
        lines = "".join(f"<p>{' '.join(words[at : at + 30])}" for at in range(0, len(words), 30))
        html = (
            f"<title>{title} - Site {host}</title><body><div class=menu>{menus[host]}</div>"
            f"<div class=content><h1>{title}</h1>{lines}</div><div class=foot>Copy {host}</div>"
        )
        url = f"http://{host}.example/{choose.randrange(40)}/{row['id'] % 7}.html"
        pages.append({"id": row["id"], "html": html, "url": url, "group": row["group"]})
    return pages
