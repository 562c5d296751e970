"""Small sites, one for each way in which a page's text, or the verdict on it, has gone wrong.

Each site tells what its pages say themselves, what stands on all of them, and which are copies.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

_PARTS = [a + b for a in ("ba", "ke", "lo", "mi", "su", "do", "fa") for b in ("n", "r", "st", "v")]
_CHARACTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 800)]
N_PAGES = 16


@dataclass
class SmallSite:
    """A site, and the truth about it.

    Attributes:
        pages: HTML by path; the first links to all others.
        own: lines that the stored text of a page must have, by path.
        foreign: lines that no stored text may have.
        copies: paths that must be dropped, and the path of the page that each is a copy of.
        texts: all that a page says itself, by path, for pages whose words are counted.
    """

    pages: dict[str, str] = field(default_factory=dict)
    own: dict[str, list[str]] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, html: str, *own: str, copy: bool = True) -> None:
        """Add a page that says `own`, and, for some pages, a copy of it under another path."""
        self.pages[path] = html
        self.own[path] = list(own)
        if copy and len(self.pages) % 5 == 1:
            self.pages[f"copy{path}"] = html
            self.copies[f"copy{path}"] = path

    def says(self, path: str, *texts: str) -> None:
        """State all that a page says itself."""
        self.texts[path] = "\n".join(texts)

    def with_index(self) -> SmallSite:
        links = "".join(f"<li><a href={path}>{path}</a>" for path in self.pages)
        self.pages = {"": f"<title>All pages</title><body><ul>{links}</ul>", **self.pages}
        return self


def words(name: object, n_words: int) -> str:
    """Words that are the same for the same name, and unlike those of any other."""
    choose = random.Random(str(name))
    found = ("".join(choose.choices(_PARTS, k=choose.randint(2, 3))) for _ in range(n_words))
    return " ".join(found).capitalize() + "."


def chinese(name: object, n_characters: int) -> str:
    return "".join(random.Random(str(name)).choices(_CHARACTERS, k=n_characters)) + "。"


_BAR = [words(f"bar {number}", 6) for number in range(60)]
FOOT = words("foot", 25)


def document(title: str, body: str, head: str = "") -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title} — The site</title>{head}"
        f"</head><body>{body}</body></html>"
    )


def _themed(title: str, content: str, *, side: str = "") -> str:
    """A theme of a manual: the content beside a bar that is longer than most pages."""
    bar = "".join(f"<li><a href=#{n}>{entry}</a>" for n, entry in enumerate(_BAR))
    return document(
        title,
        f"<div class=top><a href=./>Home</a></div><div class=document><div class=body>{content}"
        f"</div></div><div class=sidebar><p>{FOOT}</p><ul>{bar}</ul>{side}</div>",
    )


def short_pages_beside_a_long_bar() -> SmallSite:
    site = SmallSite(foreign=[FOOT, _BAR[3]])
    for number in range(N_PAGES):
        own = words(f"short {number}", 18)
        html = _themed(f"frame.member_{number}", f"<h1>frame.member_{number}</h1><p>{own}</p>")
        site.add(f"member_{number}.html", html, own)
    return site


def chinese_pages_beside_a_bar() -> SmallSite:
    bar = "".join(f"<li><a href=#{n}>{chinese(f'bar {n}', 8)}</a>" for n in range(50))
    foot = chinese("foot", 40)
    site = SmallSite(foreign=[foot])
    for number in range(N_PAGES):
        name, own = chinese(f"name {number}", 6), chinese(number, 60)
        body = (
            f"<div id=wrap><div class=post><h1>{name}</h1><p>{own}</p></div>"
            f"<div class=widgets>{foot}<ul>{bar}</ul></div></div>"
        )
        site.add(f"{number}.html", document(name, body), own)
    return site


def code_in_figures() -> SmallSite:
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        own, code = words(f"code {number}", 60), f"run --of {number} | tee out_{number}.log"
        figure = (
            f"<figure class='highlight bash'><table><tr><td class=gutter><pre>1</pre></td>"
            f"<td class=code><pre>{code}</pre></td></tr></table>"
            f"<figcaption>Listing {number}</figcaption></figure>"
        )
        html = _themed(f"Post {number}", f"<h1>Post {number}</h1><p>{own}</p>{figure}")
        site.add(f"post-{number}/", html, own, code, f"Listing {number}")
    return site


def notes_and_tabs() -> SmallSite:
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        own, note, tab = (
            words(f"notes {number}", 60),
            words(f"note {number}", 15),
            words(f"tab {number}", 15),
        )
        content = (
            f"<h1>Guide {number}</h1><p>{own}</p><aside class=note><p>{note}</p></aside>"
            f"<div role=tablist><button>A</button><button>B</button></div>"
            f"<section role=tabpanel><p>First.</p></section>"
            f"<section role=tabpanel hidden><p>{tab}</p></section>"
        )
        site.add(f"guide-{number}", _themed(f"Guide {number}", content), own, note, tab)
    return site


def sections_with_telling_names() -> SmallSite:
    names = ("related-work", "recommendations", "share", "comments", "navigation", "modal")
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        own = [words(f"{number} {name}", 25) for name in names]
        sections = "".join(
            f"<section id={name} class={name}><h2 id={name}-title>{name}</h2><p>{text}</p>"
            "</section>"
            for name, text in zip(names, own, strict=True)
        )
        html = _themed(f"Chapter {number}", f"<h1>Chapter {number}</h1>{sections}")
        site.add(f"chapter-{number}.html", html, *own)
    return site


def listings_of_links() -> SmallSite:
    site = SmallSite(foreign=[FOOT])
    for number in range(N_PAGES):
        entries = [f"Class{number}.method_{n}()" for n in range(30)]
        links = "".join(f"<dt><a href=#{entry}>{entry}</a>" for entry in entries)
        content = f"<h1>Class{number}</h1><p>{words(f'listings {number}', 12)}</p><dl>{links}</dl>"
        site.add(f"class-{number}.html", _themed(f"Class{number}", content), *entries[:3])
    return site


def lists_that_differ_in_references() -> SmallSite:
    """Two pages each of one name and one introduction, with references to other sites."""
    site = SmallSite(foreign=[FOOT])
    for number in range(2 * N_PAGES):
        own = words(f"reading {number // 2}", 100)
        references = [words(f"reference {number} {entry}", 6) for entry in range(6)]
        links = "".join(
            f"<li><a href=https://elsewhere.example/{number}/{entry}>{reference}</a>"
            for entry, reference in enumerate(references)
        )
        content = f"<h1>Reading {number // 2}</h1><p>{own}</p><h2>References</h2><ul>{links}</ul>"
        html = document(f"Reading {number // 2}", f"<main>{content}</main><footer>{FOOT}</footer>")
        site.add(f"reading/{number}.html", html, own, *references)
    return site


def open_element_in_noscript() -> SmallSite:
    site = SmallSite()
    for number in range(N_PAGES):
        own = words(f"open {number}", 60)
        body = (
            "<noscript><div style='display:none'><img src=/pixel.gif></noscript>"
            f"<div class=page><h1>Page {number}</h1><p>{own}</p></div>"
        )
        site.add(f"open-{number}.html", document(f"Page {number}", body), own)
    return site


def notices_that_claim_to_be_the_article() -> SmallSite:
    notice = words("we value your privacy", 30)
    site = SmallSite()
    for number in range(N_PAGES):
        own = words(f"notices {number}", 60)
        body = (
            f"<article class=consent><h2>Privacy</h2><p>{notice}</p></article>"
            f"<div class=story><h1>Story {number}</h1><p>{own}</p></div><footer>{FOOT}</footer>"
        )
        site.add(f"story-{number}", document(f"Story {number}", body), own)
    return site


def pages_that_differ_in_a_name() -> SmallSite:
    """StdOut and StdErr: the same words, but for the name. A reader calls them two pages."""
    site = SmallSite(foreign=[FOOT])
    text = words("what a stream is", 90)
    for number in range(N_PAGES):
        own = f"Std{number} is a stream."
        content = f"<h1>Std{number}</h1><p>{own}</p><p>{text}</p>"
        site.add(f"std-{number}.html", _themed(f"Std{number}", content), own, text)
    return site


def versions_of_a_manual() -> SmallSite:
    """Each page in two versions: near duplicates of one name."""
    site = SmallSite(foreign=[FOOT])
    for version in ("1.0", "1.1"):
        for number in range(N_PAGES):
            own = words(f"versions {number}", 200)
            content = f"<h1>Part {number}</h1><p>{own}</p><p>Since release {version}.</p>"
            html = _themed(f"Part {number} — Manual {version}", content)
            path = f"{version}/part-{number}.html"
            site.add(path, html, own, copy=False)
            if version != "1.0":
                site.copies[path] = f"1.0/part-{number}.html"
    return site


def two_templates() -> SmallSite:
    site = SmallSite(foreign=[FOOT, words("about the author", 40)])
    for number in range(N_PAGES):
        own, post = words(f"two {number}", 25), words(f"post {number}", 25)
        html = _themed(f"Manual {number}", f"<h1>Manual {number}</h1><p>{own}</p>")
        site.add(f"manual/{number}.html", html, own)
        body = (
            f"<div id=blog><article id=post-{number}><h1>Post {number}</h1><p>{post}</p></article>"
            f"</div><div class=author><p>{words('about the author', 40)}</p></div>"
        )
        site.add(f"blog/{number}.html", document(f"Post {number}", body), post)
    return site


def tables_for_layout() -> SmallSite:
    site = SmallSite(foreign=[FOOT])
    menu = "".join(f"<a href=#{n}>{entry}</a><br>" for n, entry in enumerate(_BAR[:40]))
    for number in range(N_PAGES):
        own = words(f"tables {number}", 25)
        body = (
            f"<table width=100%><tr><td><font size=1>{menu}</font></td><td><b>Item {number}</b><br>"
            f"{own}</td></tr><tr><td colspan=2>{FOOT}</td></tr></table>"
        )
        site.add(f"item{number}.htm", document(f"Item {number}", body), own)
    return site


def class_names_of_a_build() -> SmallSite:
    site = SmallSite(foreign=[FOOT])
    menu = "".join(f"<a href=#{n}>{entry}</a> " for n, entry in enumerate(_BAR[:40]))
    for number in range(N_PAGES):
        own = words(f"class {number}", 25)
        body = (
            f"<div class='css-1x2y3z'><div class='_BCFX n{number}'>{menu}<p>{FOOT}</p></div>"
            f"<div class='_QQ{number} css-9k' id=v-{number}><h1>View {number}</h1><p>{own}</p>"
            "</div></div>"
        )
        site.add(f"view/{number}", document(f"View {number}", body), own)
    return site


def a_single_page() -> SmallSite:
    site = SmallSite()
    own = words("alone", 80)
    site.add("alone.html", document("Alone", f"<main><h1>Alone</h1><p>{own}</p></main>"), own)
    return site


SITES: tuple[Callable[[], SmallSite], ...] = (
    short_pages_beside_a_long_bar,
    chinese_pages_beside_a_bar,
    code_in_figures,
    notes_and_tabs,
    sections_with_telling_names,
    listings_of_links,
    lists_that_differ_in_references,
    open_element_in_noscript,
    notices_that_claim_to_be_the_article,
    pages_that_differ_in_a_name,
    versions_of_a_manual,
    two_templates,
    tables_for_layout,
    class_names_of_a_build,
    a_single_page,
)
