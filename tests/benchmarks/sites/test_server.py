from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from benchmarks.sites.folder import SiteFolder
from benchmarks.sites.server import SiteServer

pytestmark = pytest.mark.slow


@pytest.fixture
def served(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.html").write_text("<p>Docs of http://a.org/</p>")
    with SiteServer(SiteFolder(tmp_path, hosts=["a.org"])) as server:
        yield server


def ask(server, method, path):
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_a_page_is_served_with_its_links_on_the_server(served):
    status, header, body = ask(served, "GET", "/docs/")
    assert (status, header["Content-Type"]) == (200, "text/html")
    assert body == f"<p>Docs of {served.url}</p>".encode()


def test_a_folder_is_redirected(served):
    status, header, _ = ask(served, "GET", "/docs")
    assert (status, header["Location"]) == (301, "/docs/")


def test_head_has_no_body(served):
    status, header, body = ask(served, "HEAD", "/docs/")
    assert (status, body) == (200, b"")
    assert int(header["Content-Length"]) > 0


def test_a_page_is_read_again_as_it_was_served(served):
    body = f"<p>Docs of {served.url}</p>".encode()
    assert served.page(f"{served.url}docs/") == body
    assert served.page(f"{served.url}docs") == body  # where its redirect leads
    assert served.page(f"{served.url}none") == b""


def test_the_port_is_free_afterwards(tmp_path):
    with SiteServer(SiteFolder(tmp_path)) as server:
        assert ask(server, "GET", "/")[0] == 404
    with pytest.raises(ConnectionRefusedError):
        ask(server, "GET", "/")
