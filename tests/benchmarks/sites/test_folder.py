import gzip

import pytest

from benchmarks.sites.folder import HTML, SiteFolder

pytestmark = pytest.mark.slow

BASE = "http://127.0.0.1:8000/"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "site"
    for name, text in {
        "index.html": "root",
        "about.html": "about",
        "docs/index.htm": "docs",
        "docs/plain": "no ending",
        "docs/style.css": "css",
        "bare/page.html": "in a folder without an index",
        "list.php%3Fpage=2": "saved by wget",
        "view.asp?id=1&x=a b": "saved by wget, too",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "packed.html.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "secret.html").write_text("secret")
    return folder


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/", b"root"),
        ("/index.html", b"root"),
        ("/?utm=1", b"root"),  # no file of this query
        ("/about", b"about"),
        ("/about.html", b"about"),
        ("/docs/", b"docs"),
        ("/docs/plain", b"no ending"),
        ("/%61bout", b"about"),
        ("/packed.html", b"packed"),
        ("/view.asp?id=1&x=a%20b", b"saved by wget, too"),
    ],
)
def test_pages_as_github_serves_them(root, target, body):
    answer = SiteFolder(root).answer(target, BASE)
    assert (answer.status, answer.content_type, answer.body) == (200, HTML, body)


@pytest.mark.parametrize(
    ("target", "content_type"),
    [("/docs/style.css", "text/css"), ("/packed.html.gz", "application/octet-stream")],
)
def test_other_files_keep_their_type(root, target, content_type):
    assert SiteFolder(root).answer(target, BASE).content_type == content_type


def test_the_type_of_a_saved_query_is_that_of_its_path(root):
    answer = SiteFolder(root).answer("/list.php?page=2", BASE)
    assert answer.body == b"saved by wget"
    assert answer.content_type != HTML


def test_a_folder_is_redirected_to_its_slash(root):
    answer = SiteFolder(root).answer("/docs?x=1", BASE)
    assert (answer.status, answer.location) == (301, "/docs/?x=1")


@pytest.mark.parametrize(
    "target",
    [
        "/none",
        "/bare/",  # no index
        "/../secret.html",
        "/%2e%2e/secret.html",
        "/%00",
        f"/{'long' * 100}",
    ],
)
def test_what_is_not_there_or_outside_is_not_found(root, target):
    answer = SiteFolder(root).answer(target, BASE)
    assert (answer.status, answer.body) == (404, b"<html><body>404</body></html>")


def test_links_out_of_the_folder_are_not_followed(root):
    (root / "link.html").symlink_to(root.parent / "secret.html")
    assert SiteFolder(root).answer("/link.html", BASE).status == 404


def test_a_site_has_an_error_page_of_its_own(root):
    (root / "404.html").write_text("gone")
    answer = SiteFolder(root).answer("/none", BASE)
    assert (answer.status, answer.body) == (404, b"gone")


def test_a_start_without_an_index_is_listed(root):
    (root / "bare" / "a&b").mkdir()
    folder = SiteFolder(root, starts=["bare/", "none/"])
    answer = folder.answer("/bare/", BASE)
    assert answer.status == 200
    assert b'<a href="a%26b/">a&amp;b/</a>' in answer.body
    assert b'<a href="page.html">page.html</a>' in answer.body
    assert folder.answer("/none/", BASE).status == 404


@pytest.mark.parametrize(
    ("text", "served"),
    [
        ("https://a.org/x http://www.a.org", b"http://127.0.0.1:8000/x http://127.0.0.1:8000"),
        ("http://a.organic/ http://b.a.org/", b"http://a.organic/ http://b.a.org/"),
    ],
)
def test_absolute_links_to_the_site_stay_on_it(root, text, served):
    (root / "links.html").write_text(text)
    folder = SiteFolder(root, hosts=["a.org", "www.a.org"])
    assert folder.answer("/links", BASE).body == served


def test_only_pages_are_rewritten(root):
    (root / "data.css").write_text("http://a.org/")
    assert SiteFolder(root, hosts=["a.org"]).answer("/data.css", BASE).body == b"http://a.org/"


def test_there_must_be_a_folder(tmp_path):
    with pytest.raises(ValueError, match=r"FOLDER must be a folder, got '.*none'"):
        SiteFolder(tmp_path / "none")
