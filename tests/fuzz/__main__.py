"""Fuzzes the doors of docs/security.md: `uv run --with atheris python -m tests.fuzz [TARGET…]`.

Each target runs in a process of its own, one after the other. What is found (once for each place
that an exception comes from) and the inputs that reached new code are kept in a folder, which the
next run goes on with. `test_seeds.py` repeats the seeds, which are such inputs, without atheris.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from zlib import crc32

_PACKAGES = ["dedup", "crawler", "protego", "warcio", "w3lib", "http.cookiejar", "email"]
_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
_AGAIN = 8  # of so many inputs one is run twice
_OPTIONS = ("-max_len=4096", "-rss_limit_mb=4000", "-timeout=60", "-report_slow_units=999")


def main() -> int:
    from tests.fuzz.running import targets

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(targets()))
    parser.add_argument("--seconds", type=int, default=60, help="of each target (default: 60)")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    print(f"{'target':12}{'executions':>12}{'a second':>10}{'finds':>7}", flush=True)
    n_all = 0
    for name in options.targets or targets():
        n_runs, seconds, n_finds = fuzz(name, (options.folder / name).absolute(), options.seconds)
        n_all += n_finds
        print(f"{name:12}{n_runs:12,}{n_runs / seconds:10,.0f}{n_finds:7}", flush=True)
    return int(n_all > 0)


def fuzz(name: str, folder: Path, seconds: int) -> tuple[int, float, int]:
    """Run a target for so long, again where an input has ended its process."""
    finds, log = folder / "finds", folder / "log"
    for each in (folder / "corpus", finds):
        each.mkdir(parents=True, exist_ok=True)
    began, n_runs = time.monotonic(), 0
    while (left := seconds - int(time.monotonic() - began)) > 0:
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as scratch, log.open("wb") as file:
            given = name, str(folder), scratch, left
            code = f"from tests.fuzz.__main__ import loop; loop{given}"
            status = subprocess.call([sys.executable, "-c", code], stderr=file, stdout=file)
        said = map(int, re.findall(r"#(\d+)", log.read_text(errors="replace")))
        if not (n_new := max(said, default=0)):
            raise SystemExit(f"{name}: the fuzzer ended with {status}, see {log}")
        n_runs += n_new
    return n_runs, time.monotonic() - began, len([f for f in finds.iterdir() if not f.suffix])


def loop(name: str, folder: str, scratch: str, seconds: int) -> None:
    """Fuzz a target in this process, which ends with it."""
    import atheris

    logging.disable()
    with atheris.instrument_imports(include=_PACKAGES):  # whatever is imported until the end
        from tests.fuzz.running import SEEDS, WORDS, check, targets

        os.chdir(scratch)
        run = targets()[name](Path(scratch))
        finds = Path(folder, "finds")

        def one(data: bytes) -> None:
            try:
                check(run, data, again=not crc32(data) % _AGAIN)
            except Exception as error:  # noqa: BLE001 -- that is what is looked for
                _keep(finds, data, error)

        options = [*_OPTIONS, f"-max_total_time={seconds}", f"-artifact_prefix={finds}/"]
        if (words := WORDS / name).exists():
            options.append(f"-dict={words}")
        atheris.Setup([name, *options, f"{folder}/corpus", str(SEEDS / name)], one)
        atheris.Fuzz()


def _keep(finds: Path, data: bytes, error: Exception) -> None:
    places = [
        f"{Path(f.filename).stem}-{f.lineno}" for f in traceback.extract_tb(error.__traceback__)
    ]
    told = re.sub(r"\W+", "-", re.sub(r"'.*'|\d", "", str(error)))[:40]
    path = finds / "-".join([type(error).__name__, *places[-2:], told])
    if not path.exists():
        path.write_bytes(data)
        said = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(f"{data!r}\n{said}", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
