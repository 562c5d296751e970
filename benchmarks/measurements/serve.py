"""How many questions `dedup serve` answers in a second, and how long each one takes.

    python -m benchmarks.measurements.serve ../shared/data/bbc.jsonl.xz
    python -m benchmarks.measurements.serve ../shared/data/bbc.jsonl.xz --processes 2

A job is made of every second text; then all texts are asked for in turn, half of them known, over
connections that are kept. Server and client share the machine's cores, and other programs may take
their part: the CPU time of both is printed beside. Each answer is compared with what `find` of a
`Deduplicator` says.
"""

import argparse
import asyncio
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from dedup import Deduplicator, Document
from dedup.store import Page, open_store

PORT = 8799


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    with lzma.open(options.corpus) as file:
        texts = [json.loads(line)["text"] for line in file]
    with tempfile.TemporaryDirectory() as folder:
        expected = make_job(folder, texts)
        command = ["serve", folder, "--port", str(PORT), "--processes", str(options.processes)]
        server = subprocess.Popen([sys.executable, "-m", "dedup.cli", *command])
        try:
            await until_ready()
            print(f"{len(texts):,} texts, {sum(expected):,} seen; {options.processes} processes")
            for n_connections, n_texts in ((1, 1), (16, 1), (64, 1), (128, 1), (4, 100)):
                await measure(server.pid, texts, expected, n_connections, n_texts, options.seconds)
        finally:
            server.terminate()
            began = time.perf_counter()
            print(f"status {server.wait()} {time.perf_counter() - began:.1f} s after SIGTERM")


def make_job(folder: str, texts: list[str]) -> list[bool]:
    with open_store(folder) as store:
        judge = Deduplicator(store=store)
        pages = (
            Page(id=str(number), text=text, url=f"http://a.example/{number}", fetched_at=1.0)
            for number, text in enumerate(texts[::2])
        )
        for _ in judge.process_many(pages):
            pass
        return [judge.find(Document(id="", text=text)) is not None for text in texts]


async def until_ready() -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", PORT)
            writer.close()
            return
        except OSError:
            await asyncio.sleep(0.1)


async def measure(
    pid: int,
    texts: list[str],
    expected: list[bool],
    n_connections: int,
    n_texts: int,
    seconds: float,
) -> None:
    """Ask over connections that wait for each answer, and print what was reached."""
    numbers = cycle(range(len(texts)))
    times: list[float] = []
    began, cpu, own = time.perf_counter(), cpu_seconds(pid), time.process_time()

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        while time.perf_counter() - began < seconds:
            asked = list(islice(numbers, n_texts))
            questions = [{"text": texts[number]} for number in asked]
            path, value = ("/seen/batch", questions) if n_texts > 1 else ("/seen", questions[0])
            body = json.dumps(value).encode()
            head = (
                f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            sent = time.perf_counter()
            writer.write(head.encode() + body)
            head_of_answer = await reader.readuntil(b"\r\n\r\n")
            length = int(head_of_answer.lower().partition(b"content-length: ")[2].split(b"\r")[0])
            answers = json.loads(await reader.readexactly(length))
            times.append(time.perf_counter() - sent)
            found = [each["seen"] for each in (answers if n_texts > 1 else [answers])]
            assert found == [expected[number] for number in asked], head_of_answer
        writer.close()

    await asyncio.gather(*(ask() for _ in range(n_connections)))
    took = time.perf_counter() - began
    times.sort()
    count = len(times) * n_texts
    p50, p95, p99 = (1000 * times[int(len(times) * share)] for share in (0.5, 0.95, 0.99))
    cpu, own = cpu_seconds(pid) - cpu, time.process_time() - own
    print(
        f"{n_connections:>4} connections, {n_texts:>3} texts each: {count / took:>6,.0f} texts/s,"
        f" {count / cpu:>6,.0f} a CPU second of the server; p50 {p50:.1f} p95 {p95:.1f}"
        f" p99 {p99:.1f} ms; CPU per text: server {1e3 * cpu / count:.2f} ms, client"
        f" {1e3 * own / count:.2f} ms; CPUs: server {cpu / took:.2f}, client {own / took:.2f}",
        flush=True,
    )


def cpu_seconds(pid: int) -> float:
    """Of a process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(int(child)) for child in children)


if __name__ == "__main__":
    asyncio.run(main())
