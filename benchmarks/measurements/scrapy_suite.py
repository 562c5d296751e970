"""Scrapy's own tests, file by file, with the add-on on by default settings and without.

    pip download --no-deps --no-binary scrapy scrapy==VERSION && tar xf scrapy-VERSION.tar.gz
    python -m venv VENV && VENV/bin/pip install . scrapy==VERSION pytest pytest-twisted \
        pytest-rerunfailures pytest-timeout attrs pexpect pyftpdlib testfixtures psutil sybil pillow
    python benchmarks/measurements/scrapy_suite.py VENV/bin/python scrapy-VERSION [FILE ...]

VERSION is the one that is installed with this project; FILE is a name such as `test_crawl.py`, all
of them by default. Each file runs in a process of its own, first without the add-on, then with it,
for at most 120 seconds (`--seconds`). What passes without it and fails with it (`worse`) runs a
second time with it, by itself: what passes then is named `unsteady`. What did not come to its turn
in the time is named `not run`. `--json` keeps all outcomes.

The only difference is `ADDONS` in Scrapy's default settings, which a `sitecustomize` sets in the
tests' processes and in those that they start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
_CUSTOMIZE = """
import os, sys
sys.path.insert(0, os.path.dirname(__file__))  # Scrapy's tests put the installed packages first
from scrapy.settings import default_settings
if os.environ["SUITE_ADDON"] == "on":
    default_settings.ADDONS = {"dedup.scrapy.DedupAddon": 500}
"""


_NOT_HANDED_ON = {"VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}
_RECORD = """
import json, os

def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        with open(os.environ["SUITE_RECORD"], "a", encoding="utf-8") as file:
            said = report.longreprtext
            row = {"test": report.nodeid, "outcome": report.outcome, "said": said[-3000:]}
            file.write(json.dumps(row) + "\\n")
"""


def run(
    python: Path, source: Path, compiled: Path, tests: list[str], *, addon: str, seconds: float
) -> dict[str, tuple[str, str]]:
    """The outcome of each test that came to its end, by its name, and what it said."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(_CUSTOMIZE)
        (folder / "suite_record.py").write_text(_RECORD)
        (folder / "dedup").symlink_to(ROOT / "dedup")  # and no other folder of the project's
        (folder / "tmp").mkdir()
        record = folder / "record.jsonl"
        command = [str(python), "-m", "pytest", *tests, "-q", "-p", "no:cacheprovider"]
        command += ["-p", "suite_record", "-W", "ignore::pytest.PytestRemovedIn10Warning"]
        process = subprocess.Popen(
            command,
            cwd=source,
            env={
                **{name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON},
                "PYTHONPATH": str(folder),
                "PYTHONPYCACHEPREFIX": str(compiled),
                "SUITE_ADDON": addon,
                "SUITE_RECORD": str(record),
                "TMPDIR": str(folder / "tmp"),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # with the servers that the tests start
        )
        found: dict[str, tuple[str, str]] = {}
        try:
            output = process.communicate(timeout=seconds)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0].decode(errors="replace")
            found["(the file)"] = "timeout", f"not done in {seconds:g} s"
        if record.exists():
            for line in record.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                before = found.get(row["test"], ("passed", ""))
                if before[0] == "passed":  # an error of the teardown counts, too
                    found[row["test"]] = row["outcome"], row["said"]
        if not found:
            found["(the file)"] = "crashed", output[-3000:]
        return found


def passed(found: dict[str, tuple[str, str]]) -> set[str]:
    return {test for test, (outcome, _) in found.items() if outcome == "passed"}


def error_of(said: str) -> str:
    lines = [line[1:].strip() for line in said.splitlines() if line.startswith("E ")]
    return (lines or said.strip().splitlines()[-1:] or ["?"])[0][:200]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("python", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    python, source = given.python.absolute(), given.source.absolute()
    names = given.files or sorted(path.name for path in (source / "tests").glob("test_*.py"))
    names += [] if given.files else ["test_settings", "test_spiderloader", "test_cmdline"]
    compiled = Path(tempfile.mkdtemp(prefix="suite-"))  # byte code, for all processes
    kept, sums = {}, dict.fromkeys(["pass without", "pass with", "worse", "unsteady", "not run"], 0)
    for name in names:
        started = time.monotonic()
        off, on = (
            run(python, source, compiled, [f"tests/{name}"], addon=addon, seconds=given.seconds)
            for addon in ("off", "on")
        )
        both = off.keys() & on.keys()
        words = dict.fromkeys(sorted((passed(off) - passed(on)) & both), "worse")
        words |= dict.fromkeys(sorted(passed(off) - both), "not run")
        for test in [test for test, word in words.items() if word == "worse"][:20]:
            again = run(python, source, compiled, [test], addon="on", seconds=given.seconds)
            if test in passed(again):
                words[test] = "unsteady"
        sums["pass without"] += len(passed(off))
        sums["pass with"] += len(passed(on))
        for word in words.values():
            sums[word] += 1
        cut = "".join(
            f"; {word} it: {found['(the file)'][1][-300:]}"
            for word, found in (("without", off), ("with", on))
            if "(the file)" in found
        )
        print(
            f"{name}: {len(passed(off))} of {len(off)} pass without, {len(passed(on))} with;"
            f" {time.monotonic() - started:.0f} s{cut}",
            flush=True,
        )
        for test, word in words.items():
            print(f"  {word}: {test}: {error_of(on.get(test, ('', ''))[1])}", flush=True)
        kept[name] = {"off": off, "on": on}
        if given.json:
            given.json.write_text(json.dumps(kept, indent=1))
    shutil.rmtree(compiled, ignore_errors=True)
    print(", ".join(f"{word} {count}" for word, count in sums.items()))


if __name__ == "__main__":
    main()
