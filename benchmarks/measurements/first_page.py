"""How soon the installed program is of use: its help, the demo, and the first page of a crawl.

    python -m venv bare && bare/bin/pip install dist/scrapy_dedup-*.whl
    python benchmarks/measurements/first_page.py bare/bin/dedup

For each command the CPU seconds and the seconds it took, as medians. The first page is asked for by
`dedup crawl` of a site of one page on loopback, and is there when the server has its request.
"""

import resource
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import ClassVar

ROUNDS = 5


class _Site(BaseHTTPRequestHandler):
    asked_at: ClassVar[list[float]] = []

    def do_GET(self) -> None:
        if self.path == "/":
            self.asked_at.append(time.monotonic())
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>One</title><p>A page of a few words, and no links.</p>")

    def log_message(self, *arguments: object) -> None:
        pass


def run(program: str, *arguments: str) -> tuple[float, float]:
    """CPU seconds and seconds of a command in an empty folder."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began


def main() -> None:
    program = str(Path(sys.argv[1]).absolute())
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    first = []
    for arguments in (["--help"], ["crawl", "--help"], ["demo"], ["crawl", url, "-o", "p.jsonl"]):
        times = []
        for _ in range(ROUNDS):
            began = time.monotonic()
            times.append(run(program, *arguments))
            if url in arguments:
                first.append(_Site.asked_at[-1] - began)
        cpu, seconds = map(median, zip(*times, strict=True))
        name = " ".join(["dedup", *arguments]).replace(url, "URL")
        print(f"{name}: {cpu:.2f} s CPU, {seconds:.2f} s", flush=True)
    print(f"the first page is asked for after {median(first):.2f} s")


if __name__ == "__main__":
    main()
