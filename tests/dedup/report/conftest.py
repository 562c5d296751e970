"""A job with every kind of duplicate, and with pages that would like to be more than text."""

from pathlib import Path

import pytest

from dedup import Deduplicator
from dedup.store import Page, SqliteStore

SITE = "https://site.example"
STORY = " ".join(f"Letter {number} came by the evening post." for number in range(40))
CHINESE = "".join(f"第{number}封信是晚上送到的，写在茶馆的账簿上。" for number in range(30))
HOSTILE = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "</title></style><svg onload=window.pwned=1>",
    "{{ 7 * 7 }}{% raw %}",
    "\u2028\u2029\x00\x1b[31m‮<!--",
    "&lt;b&gt;",
)


@pytest.fixture(scope="session")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("jobs") / "job<b>&"
    store = SqliteStore(folder / "crawl.sqlite")
    deduplicator = Deduplicator(store=store)
    pages = [
        ("/letters", "Letters", STORY),
        ("/letters?utm_source=x", "Letters", STORY),
        ("/letters/", "Letters", STORY.replace("Letter 7 came", "Parcel 7 came")),
        ("/zh/xin", "信", CHINESE),
        ("/zh/xin?utm_source=x", "信", CHINESE.replace("第9封信是晚上", "第9封信是早上")),
    ]
    for number, text in enumerate(HOSTILE):
        words = f"{text} {number} " + STORY.replace("Letter", f"{text} {number}")
        pages += [
            (f"/{number}/{text}", text, words),
            (f"/{number}/{text}?x={text}", text, f"{words} That {text} was all."),
        ]
    documents = [
        Page(id="", url=SITE + url, title=title, text=text, size_bytes=10, fetched_at=1e9 + place)
        for place, (url, title, text) in enumerate(pages)
    ]
    documents.append(Page(id="", url="javascript:window.pwned=1", title="x", text=CHINESE + "。"))
    for document in documents:
        deduplicator.process(document)
    store.add_skipped(f"{SITE}/{HOSTILE[0]}", "http_404", is_fetched=True, size_bytes=7)
    store.close()
    return folder
