"""`dedup run` in one process and in two, beside others' tools: rows a second, memory, accuracy.

Run: python benchmarks/measurements/collection_run.py COLLECTION [--peers PYTHON] [--only NAME...]
    [--rounds 5]

COLLECTION is what `collection_rows.py` has made. Each contender is a process of its own, with the
shingles of the truth where it can: sets of 3 words (Chinese: of 5 characters), threshold 0.8.

    datasketch  `MinHash.update_batch` over the set of shingles, `MinHashLSH` at 0.8 with 128
                permutations; what shares a bucket with an earlier row is dropped, unverified
    rensa       `RMinHash` of 128 permutations over the set of shingles, `RMinHashLSH` with 16
                bands, and the exact resemblance to the rows in a bucket: twelve lines of Python
    gaoya       `MinHashStringIndex` at 0.8, all else as it comes; words are what stands between
                spaces, and nothing is verified
    text-dedup  `python -m text_dedup.minhash --threshold 0.8 --ngram 3 --num_proc 2`, all else as
                it comes; clusters, of which the first row stays, unverified. Its words are what
                stands between signs, so a clause is a word of Chinese
    simhash     `Simhash` of the words by frequency, `SimhashIndex` with k=3, all else as it comes;
                unverified
    datatrove   its four steps of MinHash with n-grams of 3 words, all else as it comes; clusters,
                unverified. Each language by its own tokenizer, as it is used: English and Chinese
                rows are deduplicated one after the other

The latter two do not share the project's dependencies: PYTHON is the interpreter of an environment
that has them (`pip install text-dedup datatrove spacy jieba`).

A base and the rows of an exact resemblance of at least 0.8 to it are a *family*: one of them ought
to stay, whichever. *Recall* is the share of all others that were dropped; *wrong* is how many rows
were dropped beyond that: whole families, and rows that resemble their base less. *Precision* is the
share of the dropped rows that are not wrong. Short rows do not count: what they are is open. Of
copies and of edited rows the share that was dropped is printed, too: less where another row of the
family was dropped instead.

In each round all contenders run one after the other; the medians are printed.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

_CONTENDERS = (
    *("dedup, 1 process", "dedup, 2 processes", "rensa", "gaoya", "datasketch", "simhash"),
    *("text-dedup", "datatrove"),
)
_PEERS = _CONTENDERS[6:]
_NEAR = 0.8
_WORDS = re.compile(r"\w+")
_HAN = re.compile("[\u3400-\u9fff]")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--peers", help="the interpreter that has text-dedup and datatrove")
    parser.add_argument("--only", nargs="*", default=_CONTENDERS, choices=_CONTENDERS)
    parser.add_argument("--rows", type=int, help="of the collection, the first")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker[0], options.collection, Path(options.worker[1]))))
        return
    with tempfile.TemporaryDirectory(prefix="dedup-measure-") as name:
        folder = Path(name)
        collection = options.collection
        if options.rows:
            collection = folder / "rows.jsonl"
            with options.collection.open("rb") as file, collection.open("wb") as part:
                part.writelines(line for _, line in zip(range(options.rows), file, strict=False))
        truth = Truth(collection)
        print(f"{truth.rows:,} rows, {collection.stat().st_size / 1e6:,.0f} MB;", end=" ")
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}", flush=True)
        used: dict[str, list[dict[str, float]]] = defaultdict(list)
        for _ in range(options.rounds):
            for contender in options.only:
                python = options.peers if contender in _PEERS else sys.executable
                if python is None:
                    print(f"{contender}: needs --peers")
                    continue
                kept = folder / contender
                command = [python, __file__, str(collection), "--worker", contender, str(kept)]
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                used[contender].append(json.loads(done.stdout.splitlines()[-1]))
                print(".", end="", file=sys.stderr, flush=True)
        for contender, found in used.items():
            medians = {name: median(each[name] for each in found) for name in found[0]}
            print(
                line(contender, truth, medians, folder / contender),
                ratio(found, used.get("rensa", [])),
            )


def ratio(found: list[dict[str, float]], others: list[dict[str, float]]) -> str:
    """The rows a CPU second beside those of rensa, as the median of all rounds."""
    ratios = [cpu(other) / cpu(own) for own, other in zip(found, others, strict=False)]
    return f", {median(ratios):.2f} of rensa" if ratios else ""


def cpu(used: dict[str, float]) -> float:
    return used["self"] + used["children"]


class Truth:
    """Which rows are of one family."""

    def __init__(self, collection: Path) -> None:
        families: dict[int, list[int]] = defaultdict(list)
        self.kinds: dict[str, list[int]] = {"copy": [], "near": []}
        self.rows = 0
        with collection.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                self.rows += 1
                if row["kind"] != "short":
                    is_near = row.get("resemblance", 0) >= _NEAR
                    families[row["base"] if is_near else row["id"]].append(row["id"])
                    if is_near:
                        self.kinds[row["kind"]].append(row["id"])
        self.families = list(families.values())

    def accuracy(self, stays: set[int]) -> tuple[int, int, int]:
        """How many rows ought to be dropped, how many of these are, and how many more are."""
        ought = right = wrong = 0
        for family in self.families:
            dropped = sum(number not in stays for number in family)
            ought += len(family) - 1
            right += min(dropped, len(family) - 1)
            wrong += dropped == len(family)
        return ought, right, wrong


def line(name: str, truth: Truth, used: dict[str, float], kept: Path) -> str:
    stays = set(map(int, kept.read_text().split()))
    ought, right, wrong = truth.accuracy(stays)
    dropped = {
        kind: sum(number not in stays for number in numbers) / max(len(numbers), 1)
        for kind, numbers in truth.kinds.items()
    }
    return (
        f"{name:18} {truth.rows / used['seconds']:6,.0f} rows/s wall ({used['seconds']:,.0f} s),"
        f" {truth.rows / cpu(used):6,.0f} rows/s CPU ({used['self']:.1f} s here,"
        f" {used['children']:.1f} s in others), peak {used['peak']:,.0f} MB"
        f" (largest other {used['peak_other']:,.0f}), {len(stays):,} kept,"
        f" precision {right / max(right + wrong, 1):.4f}, recall {right / ought:.4f}"
        f" (copies {dropped['copy']:.4f}, edited {dropped['near']:.4f}),"
        f" wrong {wrong:,} of {right + wrong:,}"
    )


def work(name: str, collection: Path, kept: Path) -> dict[str, float]:
    """Have a contender write the ids of the rows that stay; what it took.

    Memory is in MB, CPU in seconds, of this process and of the largest, or all, others.
    """
    with tempfile.TemporaryDirectory(prefix="dedup-contender-", dir=kept.parent) as folder:
        began = time.monotonic()
        ids = _WORK[name.partition(",")[0]](name, collection, Path(folder))
        seconds = time.monotonic() - began
        kept.write_text("\n".join(map(str, ids)))
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return {
        "seconds": seconds,
        "self": own.ru_utime + own.ru_stime,
        "children": others.ru_utime + others.ru_stime,
        "peak": own.ru_maxrss / 1024,
        "peak_other": others.ru_maxrss / 1024,
    }


def dedup(name: str, collection: Path, folder: Path) -> Iterator[int]:
    from dedup.cli import main as command

    out = folder / "out.jsonl"
    status = command(["run", str(collection), "-o", str(out), "--processes", name.split()[1]])
    if status:
        sys.exit(status)
    return ids_of(out)


def shingles(text: str) -> set[str]:
    """As `cascade.shingles`, which takes as long to import as others take for thousands of rows."""
    words = _WORDS.findall(text.lower())
    if not text.isascii() and 2 * len(_HAN.findall(text)) > len(text):
        joined = "".join(words)
        return {joined[start : start + 5] for start in range(len(joined) - 4)}
    return set(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def datasketch(_name: str, collection: Path, _folder: Path) -> Iterator[int]:
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=_NEAR, num_perm=128)
    found = []
    with collection.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            sketch = MinHash(num_perm=128)
            sketch.update_batch([shingle.encode() for shingle in shingles(row["text"])])
            if not lsh.query(sketch):
                lsh.insert(row["id"], sketch)
                found.append(row["id"])
    return iter(found)


def rensa(_name: str, collection: Path, _folder: Path) -> Iterator[int]:
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=_NEAR, num_perm=128, num_bands=16)
    kept: list[tuple[int, set[str]]] = []
    with collection.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            own = set(shingles(row["text"]))
            sketch = RMinHash(num_perm=128, seed=42)
            sketch.update(list(own))
            others = (kept[place][1] for place in index.query(sketch))
            if not any(len(own & other) >= _NEAR * len(own | other) for other in others):
                index.insert(len(kept), sketch)
                kept.append((row["id"], own))
    return (number for number, _ in kept)


def gaoya(_name: str, collection: Path, _folder: Path) -> Iterator[int]:
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=_NEAR, analyzer="word", lowercase=True, ngram_range=(3, 3)
    )
    found = []
    with collection.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            if not index.query(row["text"]):
                index.insert_document(row["id"], row["text"])
                found.append(row["id"])
    return iter(found)


def simhash(_name: str, collection: Path, _folder: Path) -> Iterator[int]:
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([], k=3)
    found = []
    with collection.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            fingerprint = Simhash(Counter(re.findall(r"\w+", row["text"].lower())))
            if not index.get_near_dups(fingerprint):
                index.add(str(row["id"]), fingerprint)
                found.append(row["id"])
    return iter(found)


def text_dedup(_name: str, collection: Path, folder: Path) -> Iterator[int]:
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train"]
    options = {
        "--data_files": collection,
        "--column": "text",
        "--cache_dir": folder / "cache",
        "--output": folder / "out",
        "--threshold": _NEAR,
        "--ngram": 3,
        "--num_proc": 2,
    }
    arguments = [str(each) for pair in options.items() for each in pair]
    subprocess.run([*command, *arguments], check=True, stdout=sys.stderr, cwd=folder)
    from datasets import load_from_disk

    return iter(load_from_disk(str(folder / "out"))["id"])


def datatrove(_name: str, collection: Path, folder: Path) -> Iterator[int]:
    files: dict[str, list[Any]] = {}
    for language in ("eng", "cmn"):
        (folder / language / "in").mkdir(parents=True)
        files[language] = [(folder / language / "in" / f"{n}.jsonl").open("w") for n in range(2)]
    with collection.open(encoding="utf-8") as file:
        for number, text in enumerate(file):
            row = json.loads(text)
            is_chinese = sum("一" <= each <= "鿿" for each in row["text"]) > len(row["text"]) / 4
            short = {"id": str(row["id"]), "text": row["text"]}
            files["cmn" if is_chinese else "eng"][number % 2].write(json.dumps(short) + "\n")
    for language, opened in files.items():
        for each in opened:
            each.close()
        datatrove_language(language, folder / language)
    return (
        int(json.loads(text)["id"])
        for path in sorted(folder.glob("*/out/*.jsonl"))
        for text in path.open()
    )


def datatrove_language(language: str, folder: Path) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    config = MinhashConfig(n_grams=3)
    read = JsonlReader(f"{folder}/in")
    signatures, buckets, remove = (f"{folder}/{each}" for each in ("signatures", "pairs", "remove"))
    steps = [
        (2, [read, MinhashDedupSignature(signatures, config=config, language=language)]),
        (config.num_buckets, [MinhashDedupBuckets(signatures, buckets, config=config)]),
        (1, [MinhashDedupCluster(buckets, remove, config=config)]),
        (2, [read, MinhashDedupFilter(remove), JsonlWriter(f"{folder}/out", compression=None)]),
    ]
    for number, (tasks, pipeline) in enumerate(steps):
        logs = f"{folder}/logs{number}"
        LocalPipelineExecutor(
            pipeline, tasks, workers=min(tasks, 2), logging_dir=logs, start_method="fork"
        ).run()


def ids_of(path: Path) -> Iterator[int]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(text)["id"] for text in file)


_WORK = {
    "dedup": dedup,
    "rensa": rensa,
    "datasketch": datasketch,
    "gaoya": gaoya,
    "simhash": simhash,
    "text-dedup": text_dedup,
    "datatrove": datatrove,
}


if __name__ == "__main__":
    main()
