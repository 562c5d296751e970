"""The loopback server: what it answers, and that nothing of it is left behind."""

import http.client
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dedup.demo import SITE, DemoServer


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer() as running:
        yield running


@pytest.fixture
def connection(server: DemoServer) -> Iterator[http.client.HTTPConnection]:
    open_connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    yield open_connection
    open_connection.close()


def ask(
    connection: http.client.HTTPConnection, target: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPResponse, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, headers=named)
    response = connection.getresponse()
    return response, response.read()


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("/", "index.html"),
        ("/index.html", "index.html"),
        ("/?utm_source=x", "index.html"),  # a parameter that nothing depends on
        ("/visit/", "visit/index.html"),
        ("/visit", "visit/index.html"),  # a route: no redirect
        ("/visit?sid=1", "visit/index.html"),
        ("/articles/green-tea.html;jsessionid=8C1D07", "articles/green-tea.html"),
        ("/%7Ekeeper/", "~keeper/index.html"),
        ("/%7ekeeper/", "~keeper/index.html"),
        ("/catalogue?room=1", "catalogue/room-1.html"),
        ("/catalogue?sort=year&room=2", "catalogue/room-2.html"),  # the order is of no account
    ],
)
def test_target_answers_with_the_bytes_of_the_file(
    connection: http.client.HTTPConnection, target: str, file: str
) -> None:
    response, body = ask(connection, target)
    assert response.status == 200
    assert body == (SITE / file).read_bytes()
    assert response.headers["Content-Type"] == "text/html"  # the page declares its charset itself


@pytest.mark.parametrize(
    ("target", "status", "location"),
    [
        ("/tour", 301, "/visit/"),
        ("/oolong", 302, "/articles/oolong.html"),
        ("/friends", 302, "http://other.example/"),
        ("/loop/a", 302, "/loop/b"),
        ("/loop/b", 302, "/loop/a"),
        ("/articles", 301, "/articles/"),  # every folder without a route of its own
        ("/library/shelf", 301, "/library/shelf/"),
        ("/catalogue?room=3", 301, "/catalogue/"),  # no such room: the folder
        ("//articles", 301, "/articles/"),  # not to a host named "articles"
    ],
)
def test_redirects(
    connection: http.client.HTTPConnection, target: str, status: int, location: str
) -> None:
    response, body = ask(connection, target)
    assert (response.status, response.headers["Location"], body) == (status, location, b"")


@pytest.mark.parametrize(
    "target",
    [
        "/missing.html",
        "/missing/",
        "/index.html/",
        "/../server.py",
        "/%2e%2e/server.py",
        "/%00",
        "/" + "a" * 5000,
    ],
)
def test_file_outside_the_folder_is_not_found(
    connection: http.client.HTTPConnection, target: str
) -> None:
    response, _ = ask(connection, target)
    assert response.status == 404
    assert ask(connection, "/")[0].status == 200  # the connection is still good


def test_charset_in_the_header_contradicts_the_page(
    connection: http.client.HTTPConnection,
) -> None:
    response, body = ask(connection, "/zh/latin-1/gongfu.html")
    assert response.headers["Content-Type"] == "text/html; charset=iso-8859-1"
    assert body == (SITE / "zh/gongfu.html").read_bytes()


@pytest.mark.parametrize("target", ["/robots.txt", "/sitemap.xml"])
def test_absolute_addresses_are_those_of_the_running_server(
    server: DemoServer, connection: http.client.HTTPConnection, target: str
) -> None:
    _, body = ask(connection, target)
    assert server.url.encode() in body
    assert b"{server}" not in body


def test_etag_and_date_are_answered_with_not_modified(
    connection: http.client.HTTPConnection,
) -> None:
    first, body = ask(connection, "/")
    etag, modified = first.headers["ETag"], first.headers["Last-Modified"]
    later = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    for headers in (
        {"If_None_Match": etag},
        {"If_None_Match": f'"x", W/{etag}'},
        {"If_None_Match": "*"},
        {"If_Modified_Since": modified},
        {"If_Modified_Since": later},
    ):
        response, nothing = ask(connection, "/", **headers)
        assert (response.status, nothing, response.headers["ETag"]) == (304, b"", etag), headers
    assert body


@pytest.mark.parametrize(
    "headers",
    [
        {"If_None_Match": '"other"'},
        {"If_Modified_Since": "Sat, 01 Jan 2000 00:00:00 GMT"},
        {"If_Modified_Since": "yesterday"},
        {"If_None_Match": '"other"', "If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
    ],
)
def test_changed_or_unreadable_conditions_are_answered_in_full(
    connection: http.client.HTTPConnection, headers: dict[str, str]
) -> None:
    assert ask(connection, "/", **headers)[0].status == 200


def test_head_has_the_headers_of_get_without_the_body(
    connection: http.client.HTTPConnection,
) -> None:
    head, nothing = ask(connection, "/", "HEAD")
    get, body = ask(connection, "/")
    assert nothing == b""
    assert head.headers["Content-Length"] == get.headers["Content-Length"] == str(len(body))


def test_connection_is_kept_alive(connection: http.client.HTTPConnection) -> None:
    ask(connection, "/")
    before = connection.sock
    for target in ("/tour", "/missing.html", "/visit/"):
        ask(connection, target)
    assert before is not None
    assert connection.sock is before


def test_a_folder_without_an_index_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a&b c.html").write_text("{server}")
    monkeypatch.setattr("dedup.demo.server.SITE", tmp_path.resolve())
    monkeypatch.setattr("dedup.demo.server.ROUTES", {})
    with DemoServer() as server:
        client = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        _, listing = ask(client, "/")
        _, page = ask(client, "/a%26b%20c.html")
        status = ask(client, "/tour")[0].status
        client.close()
    assert b'<a href="a%26b%20c.html">a&amp;b c.html</a>' in listing
    assert b'<a href="sub/">sub/</a>' in listing
    assert (page, status) == (b"{server}", 404)


def test_no_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> str:
        raise AssertionError("a look-up in the DNS can take seconds")

    monkeypatch.setattr("socket.getfqdn", refuse)
    monkeypatch.setattr("socket.gethostbyaddr", refuse)
    with DemoServer() as server:
        client = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        assert ask(client, "/")[0].status == 200
        client.close()


def test_two_servers_have_two_ports() -> None:
    with DemoServer() as one, DemoServer() as other:
        assert one.url != other.url
        assert one.url.startswith("http://127.0.0.1:")
        assert one.url.endswith("/")


def test_start_and_stop_in_any_order() -> None:
    server = DemoServer()
    with pytest.raises(RuntimeError, match="must be started"):
        _ = server.url
    server.stop()  # nothing to stop
    for _ in range(2):
        server.start()
        with pytest.raises(RuntimeError, match="must be stopped before it is started"):
            server.start()
        server.stop()
        server.stop()


def test_nothing_is_left_with_clients_still_connected() -> None:
    threads = set(threading.enumerate())
    with DemoServer() as server:
        address = urlsplit(server.url)
        clients = [http.client.HTTPConnection(address.netloc, timeout=10) for _ in range(5)]
        for client in clients:
            ask(client, "/")
        assert len(set(threading.enumerate()) - threads) == 6
    assert set(threading.enumerate()) == threads
    for client in clients:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(client, "/")
        client.close()


def test_nothing_is_printed(server: DemoServer, capfd: pytest.CaptureFixture[str]) -> None:
    client = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    ask(client, "/missing.html")
    client.request("GET", "/")
    client.close()  # without waiting for the answer
    assert capfd.readouterr() == ("", "")
