"""Kill the browser and the crawler while pages are rendered; count what is lost, twice, and left.

    uv run --extra render python benchmarks/measurements/rendering_kills.py [PAGES] [KILLS]

A site on loopback has PAGES pages (500), each an empty element that a script fills with text of its
own from a JSON answer. The crawl runs with DEDUP_RENDER=always. KILLS times (5), by turns, Chromium
or the crawl's own process gets SIGKILL while pages are rendered, then the same command resumes the
job. Prints one JSON object: pages stored with their text, missing, stored twice, and processes that
are left a minute after their crawl.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = [a + b + c for a in ("ba", "ke", "lo", "mi") for b in "nrst" for c in ("a", "en", "us")]


def text(number: int) -> str:
    return f"page{number}x " + " ".join(random.Random(number).choices(WORDS, k=120))


def site(n_pages: int) -> tuple[ThreadingHTTPServer, list[int]]:
    """The site, and the numbers of the data that were asked for."""
    asked: list[int] = []
    script = (
        "const n = location.pathname.slice(2); fetch('/data/' + n).then(r => r.json())"
        ".then(d => { app.innerHTML = '<main><h1>' + d.title + '</h1><p>' + d.text + '</p></main>'"
        " + d.links.map(l => `<a href='/p${l}'>${l}</a>`).join(' ') })"
    )
    shell = "<!doctype html><title>app</title><div id=app></div><script src=/app.js></script>"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            kind, body = "text/html", shell
            if self.path == "/app.js":
                kind, body = "text/javascript", script
            elif self.path.startswith("/data/"):
                number = int(self.path.rpartition("/")[2] or 0)
                asked.append(number)
                links = [
                    each for each in range(10 * number + 1, 10 * number + 11) if each < n_pages
                ]
                answer = {"title": f"Page {number}", "text": text(number), "links": links}
                kind, body = "application/json", json.dumps(answer)
            elif self.path == "/robots.txt":
                kind, body = "text/plain", ""
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, asked


def descendants(process: int) -> dict[int, str]:
    found = {}
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for child in map(int, children.read_text().split()):
                found[child] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
                found |= descendants(child)
        except OSError:
            continue  # it has just ended
    return found


def start_of(process: int) -> str:
    """When a process has started, since its number may be another's later; "": it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def _running(started: dict[int, str]) -> list[int]:
    return [process for process, start in started.items() if start and start_of(process) == start]


def main(n_pages: int = 500, n_kills: int = 5) -> None:
    server, asked = site(n_pages)
    folder = Path(tempfile.mkdtemp(prefix="rendering-kills-"))
    url = f"http://127.0.0.1:{server.server_port}/p0"
    command = [sys.executable, "-m", "dedup.cli", "crawl", url, "--job", "kills"]
    command += ["-s", "DEDUP_RENDER=always", "-s", f"DEDUP_JOBS_DIR={folder}"]
    everything: dict[int, str] = {}
    n_runs = 0
    marks = [n_pages * (each + 1) // (n_kills + 2) for each in range(n_kills)]
    while True:
        n_runs += 1
        crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        everything[crawl.pid] = start_of(crawl.pid)
        while crawl.poll() is None:
            time.sleep(0.2)
            children = descendants(crawl.pid)
            everything |= {each: start for each in children if (start := start_of(each))}
            if not marks or len(set(asked)) < marks[0]:
                continue
            del marks[0]
            if len(marks) % 2:
                browsers = [
                    number
                    for number, line in children.items()
                    if "--remote-debugging-pipe" in line and "--type=" not in line
                ]
                for number in browsers:
                    os.kill(number, signal.SIGKILL)
            else:
                crawl.kill()
        if crawl.returncode != -signal.SIGKILL:
            break
    pages = folder / "pages.jsonl"
    subprocess.run(
        [sys.executable, "-m", "dedup.cli", "export", str(folder / "kills"), "-o", str(pages)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    rows = [json.loads(line) for line in pages.read_text().splitlines()]
    numbers = [
        number for row in rows for number in range(n_pages) if f"page{number}x" in row["text"]
    ]
    until = time.monotonic() + 60
    while (left := _running(everything)) and time.monotonic() < until:
        time.sleep(1)
    result = {
        "pages": n_pages,
        "runs": n_runs,
        "exit": crawl.returncode,
        "stored": len(set(numbers)),
        "missing": sorted(set(range(n_pages)) - set(numbers)),
        "twice": len(numbers) - len(set(numbers)),
        "rendered_again": len(asked) - len(set(asked)),
        "left": len(left),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
