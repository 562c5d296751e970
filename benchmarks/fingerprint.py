"""`python -m benchmarks fingerprint`: from a text to its fingerprint, tokenising included."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import installed_version, peer, timed
from dedup.detectors import Detector, default_detectors
from dedup.document import Document
from dedup.fingerprints import simhash, simhash_many
from dedup.text import features

Figures = dict[str, Any]
Corpora = dict[str, list[str]]

_ENGLISH_CHARACTERS = 4_460
_CHINESE_CHARACTERS = 750
_DOCUMENTS = 200
_MINHASH_VALUES = 128


def made_up_corpora(seed: int) -> Corpora:
    """English and Chinese of the usual lengths: words, or characters, as rare as in real texts."""
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("etaoinshrdlucmfwygpbvk"), (20_000, 9))
    lengths = rng.integers(2, 10, len(letters)).tolist()
    words = ["".join(row[:length]) for row, length in zip(letters, lengths, strict=True)]
    characters = [chr(0x4E00 + place) for place in range(3_500)]
    english = [" ".join(_drawn(rng, words, 1_200))[:_ENGLISH_CHARACTERS] for _ in range(_DOCUMENTS)]
    chinese = [
        "，".join("".join(_drawn(rng, characters, 15)) for _ in range(50))[:_CHINESE_CHARACTERS]
        for _ in range(_DOCUMENTS)
    ]
    return {"English, made up": english, "Chinese, made up": chinese}


def _drawn(rng: np.random.Generator, vocabulary: Sequence[str], count: int) -> list[str]:
    """Words by Zipf's law."""
    ranks = (len(vocabulary) ** rng.random(count)).astype(int) - 1
    return [vocabulary[rank] for rank in ranks]


def compare(corpora: Corpora) -> Iterator[Figures]:
    """Documents a second of each method on each corpus."""
    for corpus, texts in corpora.items():
        _check_fingerprints(texts)
        for name, package, make in _METHODS:
            row: Figures = {"corpus": corpus, "method": name, "documents": len(texts)}
            row["characters"] = sum(map(len, texts)) / len(texts)
            if package and installed_version(package) == "missing":
                yield row | {"missing": package}
                continue
            method = make()
            usable, n_failed = _usable(method, texts)
            if usable:
                timing = timed(partial(_each, method, usable), len(usable))
                row["documents_per_second"] = asdict(timing)
            yield row | {"failed": n_failed}


def _each(method: Callable[[str], object], texts: list[str]) -> None:
    for text in texts:
        method(text)


def _usable(method: Callable[[str], object], texts: list[str]) -> tuple[list[str], int]:
    """The texts that a method can take, and how many it fails on; also warms its caches up."""
    usable, n_failed = [], 0
    for text in texts:
        try:
            method(text)
        except Exception:  # noqa: BLE001 -- whatever a peer raises: it is counted
            n_failed += 1
        else:
            usable.append(text)
    return usable, n_failed


def _check_fingerprints(texts: list[str]) -> None:
    """The fingerprints must be what bit by bit addition gives, one by one and as a batch."""
    documents = [_document(text) for text in texts[:20]]
    found = [features(one.normal_text, unspaced=one.is_unspaced) for one in documents]
    offsets = np.cumsum([0, *(len(hashes) for hashes, _ in found)])
    batch = simhash_many(
        np.concatenate([hashes for hashes, _ in found]),
        np.concatenate([weights for _, weights in found]),
        offsets,
    )
    for (hashes, weights), together in zip(found, batch.tolist(), strict=True):
        single = simhash(hashes, weights)
        if not single == together == _slow_simhash(hashes.tolist(), weights.tolist()):
            raise ValueError(f"fingerprints must not depend on how they are computed, got {single}")


def _slow_simhash(hashes: list[int], weights: list[int]) -> int:
    fingerprint = 0
    for bit in range(64):
        votes = sum(
            weight if feature >> bit & 1 else -weight
            for feature, weight in zip(hashes, weights, strict=True)
        )
        fingerprint |= (votes > 0) << bit
    return fingerprint


def _document(text: str) -> Document:
    return Document(id="", text=text)


def _ours() -> Callable[[str], object]:
    def fingerprint(text: str) -> int:
        document = _document(text)
        return simhash(*features(document.normal_text, unspaced=document.is_unspaced))

    return fingerprint


def detector() -> Detector:
    """The simhash detector of the default cascade."""
    detectors = default_detectors(lambda number: _document(str(number)))
    return next(detector for detector in detectors if detector.stage == "simhash")


def _detector() -> Callable[[str], object]:
    signature = detector().signature
    return lambda text: signature(_document(text))


def _pypi_default() -> Callable[[str], object]:
    return peer("simhash").Simhash  # type: ignore[no-any-return]


def _pypi_words() -> Callable[[str], object]:
    simhash_class = peer("simhash").Simhash

    return lambda text: simhash_class(_tokens(text))


def _gaoya() -> Callable[[str], object]:
    index_class = peer("gaoya.simhash").SimHashStringIndex

    index = index_class(hash_size=64, num_blocks=5, hamming_distance=4)
    return lambda text: index.insert_document(0, text)


def _datasketch() -> Callable[[str], object]:
    minhash_class = peer("datasketch").MinHash

    def sketch(text: str) -> object:
        minhash = minhash_class(num_perm=_MINHASH_VALUES)
        minhash.update_batch([token.encode() for token in _tokens(text)])
        return minhash

    return sketch


def _rensa() -> Callable[[str], object]:
    minhash_class = peer("rensa").RMinHash

    def sketch(text: str) -> object:
        minhash = minhash_class(num_perm=_MINHASH_VALUES, seed=1)
        minhash.update(_tokens(text))
        return minhash

    return sketch


_HAN = re.compile("[\u4e00-\u9fff]")
_WORD = re.compile(r"\w+")


def _tokens(text: str) -> list[str]:
    """Words, or 4 characters each of Chinese, which no peer cuts by itself."""
    words = _WORD.findall(text.lower())
    if not _HAN.search(text):
        return words
    joined = "".join(words)
    return [joined[place : place + 4] for place in range(max(1, len(joined) - 3))]


_METHODS: tuple[tuple[str, str, Callable[[], Callable[[str], object]]], ...] = (
    ("features and simhash", "", _ours),
    ("detector: shingles too", "", _detector),
    ("simhash.Simhash(text)", "simhash", _pypi_default),
    ("simhash.Simhash(words)", "simhash", _pypi_words),
    ("gaoya insert_document (splits at spaces)", "gaoya", _gaoya),
    ("datasketch.MinHash, 128", "datasketch", _datasketch),
    ("rensa.RMinHash, 128", "rensa", _rensa),
)
