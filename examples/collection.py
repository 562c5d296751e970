"""The library over texts of one's own: which of them duplicate an earlier one, and how much.

python examples/collection.py a.txt b.txt c.txt
"""

import sys
from pathlib import Path

from dedup import Deduplicator, Document


def main(paths: list[str]) -> None:
    """Print a line for each file: `unique`, or the file that it duplicates."""
    deduplicator = Deduplicator()
    kept: dict[int, str] = {}
    for path in paths:
        text = Path(path).read_text(encoding="utf-8")
        verdict = deduplicator.process(Document(id=path, text=text))
        if verdict.match is None:
            assert verdict.number is not None  # noqa: S101 -- for the type checker
            kept[verdict.number] = path
            print(f"{path}: unique")
        else:
            match = verdict.match
            print(f"{path}: duplicates {kept[match.original]}, found by {match.stage}")


if __name__ == "__main__":
    main(sys.argv[1:])
