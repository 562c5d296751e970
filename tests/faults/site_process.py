"""A site of any number of pages, served by a process of its own, which counts what it is asked for.

    python site_process.py PAGES

Prints its URL. `/count` gives how often each page was asked for, as JSON. The pages hang together
as a tree; each fifth of the second half is a copy of one of the first half, up to its links.
"""

import asyncio
import json
import random
import sys
from collections import Counter

_WORDS = [f"{a}{b}{c}" for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


def is_copy(number: int, size: int) -> bool:
    return number >= size // 2 and number % 5 == 4


def page(number: int, size: int) -> bytes:
    """The page; its links lead to two more, and to the first."""
    source = number - size // 2 if is_copy(number, size) else number
    words = random.Random(source).choices(_WORDS, k=80)
    children = [child for child in (2 * number + 1, 2 * number + 2) if child < size]
    links = "".join(f'<a href="/{child}">{child}</a> ' for child in [*children, 0])
    text = f"Page {source}: {' '.join(words)}."
    return f"<title>{source}</title><main><p>{text}</p></main><nav>{links}</nav>".encode()


class Site:
    def __init__(self, size: int) -> None:
        self.size = size
        self.asked: Counter[str] = Counter()

    def answer(self, target: str) -> tuple[int, bytes]:
        name = target.strip("/") or "0"
        if target == "/count":
            return 200, json.dumps(self.asked).encode()
        self.asked[target] += 1
        if name.isdigit() and int(name) < self.size:
            return 200, page(int(name), self.size)
        return 404, b"No such page."

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                status, body = self.answer(head.split(b" ", 2)[1].decode())
                writer.write(
                    b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
                    % (status, len(body))
                    + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main(size: int) -> None:
    server = await asyncio.start_server(Site(size).serve, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
