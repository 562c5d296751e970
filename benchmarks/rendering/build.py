"""Build the sites: `python -m benchmarks.rendering.build DIR --data DATA [--sites NAME…]`.

DATA has `bbc.jsonl.xz`, `bbc.pairs.tsv` and `laws.jsonl.xz`. DIR gets a folder NAME for each site
with the built files in `site/` and `truth.json`, and `node/` with the packages. Node.js 20.19 or
newer and npm are needed.
"""

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rendering import pages, records
from benchmarks.rendering.records import Record
from benchmarks.rendering.truth import SITE, TruePage, Truth

_HERE = Path(__file__).parent
_LIST = 20  # articles of a list
_PART = 6  # paragraphs below a heading
_NODE = "node"

_Build = Callable[["Builder", Path], Truth]


class Builder:
    """Runs the tools of npm's packages over copies of the sources."""

    def __init__(self, folder: Path, data: Path) -> None:
        self._folder, self.data = folder, data
        self._node = folder / _NODE

    def install(self) -> None:
        """Install the packages, unless they are there."""
        self._node.mkdir(parents=True, exist_ok=True)
        shutil.copy(_HERE / "package.json", self._node)
        if not (self._node / "node_modules").is_dir():
            self._run("npm", "install", "--no-package-lock", "--no-audit", "--no-fund")

    def source(self, name: str) -> Path:
        """A fresh copy of an app's source, in the folder of the packages."""
        source = self._node / name
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(_HERE / "apps" / name, source)
        return source

    def package(self, name: str) -> Path:
        """The folder of a package."""
        return self._node / "node_modules" / name

    def tool(self, source: Path, *command: str) -> None:
        self._run(str(self._node / "node_modules" / ".bin" / command[0]), *command[1:], at=source)

    def _run(self, *command: str, at: Path | None = None) -> None:
        environment = {**os.environ, "NEXT_TELEMETRY_DISABLED": "1", "CI": "1"}
        subprocess.run(command, cwd=at or self._node, env=environment, check=True)  # noqa: S603


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sites", nargs="+", choices=BUILDS, default=[*BUILDS], metavar="NAME")
    options = parser.parse_args()
    builder = Builder(options.folder.resolve(), options.data.resolve())
    builder.install()
    for name in options.sites:
        target = options.folder.resolve() / name
        shutil.rmtree(target, ignore_errors=True)
        (target / SITE).mkdir(parents=True)
        BUILDS[name](builder, target / SITE).write(target)


def _react(builder: Builder, site: Path) -> Truth:
    """A single-page application with history routes; each page is an answer of JSON."""
    articles = records.news(builder.data, 0, 230)
    _vite(builder, "react", site)
    sections = sorted({each.section for each in articles})
    write_json(site / "api/sections.json", sections)
    found = {"/": TruePage(scripted=True)}
    for name in sections:
        lists = _lists([each for each in articles if each.section == name])
        for number, part in enumerate(lists, 1):
            following = number + 1 if number < len(lists) else None
            content = {"articles": [*map(_named, part)], "next": following}
            write_json(site / f"api/section/{name}/{number}.json", content)
            found[f"/section/{name}/{number}"] = TruePage(scripted=True)
    for each in articles:
        write_json(site / f"api/article/{each.slug}.json", fields(each))
        found[f"/article/{each.slug}"] = _true(each, scripted=True)
    return Truth(found, fallback="index.html")


def _vue(builder: Builder, site: Path, *, mode: str = "production", mark: str = "") -> Truth:
    """A single-page application whose texts come with its scripts."""
    source = builder.source("vue")
    found = {}
    for number, part in enumerate(_lists(records.laws(builder.data, 0, 230)), 1):
        write_json(source / f"src/parts/{number}.json", [*map(fields, part)])
        found[f"{mark}/list/{number}"] = TruePage(scripted=True)
        found |= {f"{mark}/law/{number}/{each.slug}": _true(each, scripted=True) for each in part}
    builder.tool(source, "vite", "build", "--mode", mode, "--outDir", str(site), "--emptyOutDir")
    return Truth(found, fallback="index.html")


def _vue_hash(builder: Builder, site: Path) -> Truth:
    """The same with routes in the fragment."""
    return _vue(builder, site, mode="hash", mark="/#")


def _svelte(builder: Builder, site: Path) -> Truth:
    """A single-page application with one answer of JSON for all pages, and its own `pushState`."""
    articles = records.news(builder.data, 230, 230)
    _vite(builder, "svelte", site)
    write_json(site / "content.json", [*map(fields, articles)])
    found = {"/": TruePage(scripted=True)}
    found |= {f"/page/{number}": TruePage(scripted=True) for number in range(2, -(-230 // 25) + 1)}
    found |= {f"/story/{each.slug}": _true(each, scripted=True) for each in articles}
    return Truth(found, fallback="index.html")


def _next(builder: Builder, site: Path) -> Truth:
    """A static export: all pages are there without scripts."""
    articles = records.news(builder.data, 460, 230)
    source = builder.source("next")
    write_json(source / "app/articles.json", [*map(fields, articles)])
    builder.tool(source, "next", "build")
    shutil.copytree(source / "out", site, dirs_exist_ok=True)
    found = {"/": TruePage()}
    for name in {each.section for each in articles}:
        count = sum(each.section == name for each in articles)
        found |= {f"/section/{name}/{n}/": TruePage() for n in range(1, -(-count // 25) + 1)}
    return Truth(found | {f"/article/{each.slug}/": _true(each) for each in articles})


def _vitepress(builder: Builder, site: Path) -> Truth:
    """Documentation: all pages are there without scripts, each with the whole outline."""
    laws = records.laws(builder.data, 300, 230)
    source = builder.source("vitepress")
    write_json(source / "laws.json", [*map(_named, laws)])
    links = "\n".join(f"- [{each.title}](/{each.slug})" for each in laws)
    (source / "index.md").write_text(f"# 法规手册\n\n{links}\n", encoding="utf-8")
    for each in laws:
        text = "\n\n".join((f"# {each.title}", *each.paragraphs))
        (source / f"{each.slug}.md").write_text(pages.markdown(text), encoding="utf-8")
    builder.tool(source, "vitepress", "build", "--outDir", str(site))
    return Truth({"/": TruePage(), **{f"/{each.slug}": _true(each) for each in laws}})


def _docsify(builder: Builder, site: Path) -> Truth:
    """Documentation that a script makes of Markdown, at routes; each heading links to itself."""
    laws = records.laws(builder.data, 300, 230)
    shutil.copytree(builder.source("docsify"), site, dirs_exist_ok=True)
    shutil.copytree(builder.package("docsify") / "lib", site / "lib")
    links = "\n".join(f"- [{each.title}]({each.slug}.md)" for each in laws)
    write(site / "README.md", "# 法规手册\n")
    write(site / "_sidebar.md", links)
    for each in laws:
        lines = pages.markdown("\n\n".join((f"# {each.title}", *each.paragraphs))).split("\n\n")
        lines[1::_PART] = [f"## {line}" for line in lines[1::_PART]]
        write(site / f"{each.slug}.md", "\n\n".join(lines))
    return Truth(
        {"/": TruePage(scripted=True)}
        | {f"/#/{each.slug}": _true(each, scripted=True) for each in laws}
    )


def _endless(builder: Builder, site: Path) -> Truth:
    """A list that grows when it is scrolled, by an interface of JSON; its articles are static."""
    articles = records.news(builder.data, 690, 230)
    _vite(builder, "endless", site)
    for number, part in enumerate(_lists(articles)):
        start = number * _LIST
        following = start + _LIST if start + _LIST < len(articles) else None
        items = [{**_named(each), "teaser": each.paragraphs[0]} for each in part]
        content = {"items": items, "next": following}
        write_json(site / f"api/items.json%3Foffset={start}", content)
    for each in articles:
        write(site / f"item/{each.slug}.html", pages.page(each.title, pages.article(each)))
    found = {f"/item/{each.slug}.html": _true(each) for each in articles}
    return Truth({"/": TruePage(scripted=True), **found})


def _catalogue(builder: Builder, site: Path) -> Truth:
    """Static articles, and products of which the server sends the frame alone."""
    articles, products = _halves(builder)
    _vite(builder, "catalogue", site)
    shell = '<div id="catalogue"></div><script type="module" src="/assets/app.js"></script>'
    write_json(site / "api/products.json", [*map(_named, products)])
    write(site / "catalogue/index.html", pages.page("Catalogue", shell))
    for each in products:
        write_json(site / f"api/product/{each.slug}.json", fields(each))
        write(site / f"catalogue/{each.slug}.html", pages.page("Catalogue", shell))
    links = '<p><a href="/catalogue/">Catalogue</a></p>'
    found = _static(site, articles, links)
    found |= {f"/catalogue/{each.slug}.html": _true(each, scripted=True) for each in products}
    return Truth({**found, "/catalogue/": TruePage(scripted=True)})


def _reviews(builder: Builder, site: Path) -> Truth:
    """Static articles, and products with a static introduction and a review that a script adds."""
    articles, products = _halves(builder)
    _vite(builder, "reviews", site)
    for each in products:
        write_json(site / f"api/review/{each.slug}.json", each.paragraphs[2:])
        shell = (
            f"{pages.article(each, until=2)}\n<section id='review'></section>"
            '<script type="module" src="/assets/app.js"></script>'
        )
        write(site / f"product/{each.slug}.html", pages.page(each.title, shell))
    found = _static(site, articles, pages.links(products, "/product/"))
    return Truth(
        found | {f"/product/{each.slug}.html": _true(each, scripted=True) for each in products}
    )


BUILDS: dict[str, _Build] = {
    "react": _react,
    "vue": _vue,
    "vue-hash": _vue_hash,
    "svelte": _svelte,
    "next": _next,
    "vitepress": _vitepress,
    "docsify": _docsify,
    "endless": _endless,
    "catalogue": _catalogue,
    "reviews": _reviews,
}


def _halves(builder: Builder) -> tuple[list[Record], list[Record]]:
    return records.news(builder.data, 890, 120), records.news(builder.data, 1_010, 120)


def _static(site: Path, articles: Iterable[Record], links: str) -> dict[str, TruePage]:
    """Write the articles and the home page that links to them."""
    articles = [*articles]
    home = pages.links(articles, "/article/") + links
    write(site / "index.html", pages.page("The Shop's Paper", home))
    for each in articles:
        write(site / f"article/{each.slug}.html", pages.page(each.title, pages.article(each)))
    return {"/": TruePage(), **{f"/article/{each.slug}.html": _true(each) for each in articles}}


def _lists(found: Sequence[Record]) -> list[Sequence[Record]]:
    return [found[start : start + _LIST] for start in range(0, len(found), _LIST)]


def _vite(builder: Builder, name: str, site: Path) -> None:
    builder.tool(builder.source(name), "vite", "build", "--outDir", str(site), "--emptyOutDir")


def _true(record: Record, *, scripted: bool = False) -> TruePage:
    return TruePage(record.title, record.text, scripted)


def fields(record: Record) -> dict[str, Any]:
    return {**_named(record), "section": record.section, "paragraphs": record.paragraphs}


def _named(record: Record) -> dict[str, str]:
    return {"slug": record.slug, "title": record.title}


def write_json(path: Path, value: object) -> None:
    write(path, json.dumps(value, ensure_ascii=False))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
