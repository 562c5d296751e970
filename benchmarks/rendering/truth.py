"""What is on each page of a site, and which pages a browser is needed for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TRUTH, SITE = "truth.json", "site"


@dataclass(frozen=True, slots=True)
class TruePage:
    """A page of a site.

    Attributes:
        title, text: its own, the title included; "" for lists, whose texts are not judged.
        scripted: its text or its links are made by scripts.
    """

    title: str = ""
    text: str = ""
    scripted: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """Of a site.

    Attributes:
        pages: by path.
        fallback: the file that answers for paths without one; "": there is none.
    """

    pages: Mapping[str, TruePage]
    fallback: str = ""

    def write(self, folder: Path) -> None:
        pages = {
            path: {"title": page.title, "text": page.text, "scripted": page.scripted}
            for path, page in self.pages.items()
        }
        content = {"fallback": self.fallback, "pages": pages}
        (folder / TRUTH).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Truth":
        content = json.loads((folder / TRUTH).read_text(encoding="utf-8"))
        pages = {path: TruePage(**page) for path, page in content["pages"].items()}
        return cls(pages, content["fallback"])
