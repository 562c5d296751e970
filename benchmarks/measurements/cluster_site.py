"""Many hosts on loopback with copies planted among them, for `cluster.py`.

    python -m benchmarks.measurements.cluster_site HOSTS PAGES_PER_HOST LOG

Each host is an address of 127.77/16. It writes its port to standard output, and to LOG one line a
request: when it came and when it was answered (seconds), host, path.
"""

import asyncio
import random
import sys
import time
from functools import lru_cache
from pathlib import Path

WORDS = 200
SHARE_OF_COPIES = 0.4
"""Of the pages, those whose text stands on pages of other hosts too, exactly or nearly."""

_LETTERS = "bcdfghjklmnpqrstvwxz"

_VOCABULARY = [
    f"{a}a{b}e{c}o{d}" for a in _LETTERS for b in _LETTERS[:16] for c in "lmnr" for d in "dkst"
]
"""5,120 words without digits, which do not count in sentences: all pages would share theirs."""


def host_name(number: int) -> str:
    return f"127.77.{number // 250}.{number % 250 + 1}"


def urls(n_hosts: int, n_pages: int, port: int) -> list[str]:
    return [
        f"http://{host_name(host)}:{port}/{page}"
        for host in range(n_hosts)
        for page in range(n_pages)
    ]


@lru_cache(maxsize=20_000)
def _prose(seed: str) -> str:
    source = random.Random(seed)
    return " ".join(source.choices(_VOCABULARY, k=WORDS))


def family(host: int, number: int, n_hosts: int, n_pages: int) -> int | None:
    """Which planted text a page has, exactly or nearly; None: one of its own."""
    source = random.Random(f"{host} {number}")
    if source.random() >= SHARE_OF_COPIES:
        return None
    return source.randrange(max(n_hosts * n_pages // 8, 1))


def page(host: int, number: int, n_hosts: int, n_pages: int, port: int) -> bytes:
    source = random.Random(f"{host} {number}")
    if source.random() < SHARE_OF_COPIES:
        # Of three to four pages each, on different hosts mostly.
        text = _prose(f"shared {source.randrange(max(n_hosts * n_pages // 8, 1))}")
        if source.random() < 0.5:  # nearly
            words = text.split()
            words[source.randrange(WORDS)] = f"edited{host}x{number}"
            text = " ".join(words)
    else:
        text = _prose(f"own {host} {number}")
    own = [f"/{(number * 2 + step) % n_pages}" for step in (1, 2)]
    others = [
        f"http://{host_name(source.randrange(n_hosts))}:{port}/{source.randrange(n_pages)}"
        for _ in range(2)
    ]
    links = "".join(f'<a href="{link}">link</a> ' for link in [*own, *others])
    title = text.split(" ", 1)[0]
    return (
        f"<!DOCTYPE html><title>{title}</title><nav>{links}</nav><main><h1>{title}</h1>"
        f"<p>{text}</p></main>"
    ).encode()


async def _serve(n_hosts: int, n_pages: int, log_path: str) -> None:
    log = Path(log_path).open("a", buffering=1)  # noqa: SIM115 -- as long as the process
    ports: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                came = time.time()
                target = head.split(b" ", 2)[1].decode()
                address = writer.get_extra_info("sockname")[0].split(".")
                host = int(address[2]) * 250 + int(address[3]) - 1
                known = (target[1:].isdigit() and int(target[1:]) < n_pages) or target == "/"
                body = b"None."
                if known:
                    body = page(host, int(target[1:] or 0), n_hosts, n_pages, ports[0])
                status = "200 OK" if known else "404 Not Found"
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
                log.write(f"{came:.6f} {time.time():.6f} {host} {target}\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    first = await asyncio.start_server(answer, host_name(0), 0, backlog=256)
    ports.append(first.sockets[0].getsockname()[1])
    for number in range(1, n_hosts):
        await asyncio.start_server(answer, host_name(number), ports[0], backlog=256)
    print(ports[0], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
