"""Pages of one site, among them pairs whose texts alone do not tell whether they are one page."""

import random
from typing import Any

WORDS = [f"{a}{b}" for a in ("ka", "lo", "mi", "nu", "pe", "ra") for b in "bcdfghjklmnpqrst"]
HOST = "http://shop.example"

KEPT = ("stove/camping", "stove/kitchen", "question/1", "question/2")
DROPPED = {"article/3.print": "article/3", "article/5.plain": "article/5"}
"""Pages, and those that they are copies of."""


def words(seed: object, count: int) -> str:
    return " ".join(random.Random(str(seed)).choices(WORDS, k=count))


def paragraphs(seed: object, count: int) -> str:
    return "".join(f"<p>{words((seed, n), 40)}.</p>" for n in range(count))


_NAVIGATION = "".join(f'<li><a href="/{n}">{words(n, 2)}</a></li>' for n in range(8))
_SIDE = "".join(f"<li>{words(('side', n), 4)}</li>" for n in range(6))


def page(
    name: str, heading: str, content: str, *, crumbs: str = "All pages", side: bool = True
) -> dict[str, Any]:
    """A row of a collection with a page that has the site's head, side bar and foot."""
    bar = f"<aside><h3>More of us</h3><ul>{_SIDE}</ul></aside>" if side else ""
    html = (
        f"<title>{heading} - Shop</title><body><nav><div>{crumbs}</div><ul>{_NAVIGATION}</ul></nav>"
        f'<div class="content"><h1>{heading}</h1>{content}</div>'
        f"{bar}<footer><p>{words('foot', 12)}.</p></footer>"
    )
    return {"id": name, "url": f"{HOST}/{name}", "html": html}


def site() -> list[dict[str, Any]]:
    """The pages in the order in which they come: `KEPT` and `DROPPED` among thirty articles."""
    found = [page(f"article/{n}", words(("h", n), 3), paragraphs(n, 4)) for n in range(30)]
    for kind in ("camping", "kitchen"):
        links = ("All pages", f"Stoves for {kind}", f"Stoves for {kind} made of steel")
        crumbs = " / ".join(f'<a href="/{link}">{link}</a>' for link in links)
        text = f"<p>{words('stove', 24)}.</p>"
        found.append(page(f"stove/{kind}", "Stove of steel", text, crumbs=crumbs))
    question = f"<p>{words('question', 12)}?</p>"
    for number in (1, 2):
        answers = f'<div class="answers">{paragraphs(("answer", number), 2)}</div>'
        found.append(page(f"question/{number}", "Why does it not burn", question + answers))
    heading, text = words(("h", 3), 3), paragraphs(3, 4)
    printed = f"<title>{heading} - Shop</title><body><h1>{heading}</h1>{text}"
    found.append({"id": "article/3.print", "url": f"{HOST}/article/3.print", "html": printed})
    found.append(page("article/5.plain", words(("h", 5), 3), paragraphs(5, 4), side=False))
    return found


def poisoned() -> list[dict[str, Any]]:
    """Twelve pages of somebody who wants his links taken for the site's content, then thirty.

    On the thirty, 90 words are the same on all, in the box that his unique texts stand in.
    """
    theirs = [
        {
            "id": f"theirs/{n}",
            "url": f"{HOST}/theirs/{n}",
            "html": f"<title>Offer {n}</title><body><div class=content><div class=content>"
            + "".join(f'<p><a href="/theirs/{k}">{words(("link", k), 3)}</a></p>' for k in range(9))
            + f'</div><div class="legal"><p>{words(("theirs", n), 120)}.</p></div></div>',
        }
        for n in range(12)
    ]
    honest = [
        {
            "id": f"honest/{n}",
            "url": f"{HOST}/honest/{n}",
            "html": f'<title>{words(("t", n), 4)}</title><body><div class="content">'
            f"{paragraphs(('honest', n), 6)}<p>{words(('end', n), 20)}.</p></div>"
            f'<div class="legal"><p>{words("legal", 90)}.</p></div>',
        }
        for n in range(30)
    ]
    return theirs + honest
