"""What fields of pages cost: CPU time a page of each, and bytes a page in the store.

    python -m benchmarks.measurements.fields_cost JOB [--pages 500]

JOB is a finished crawl with stored bodies. Each field is computed alone, of sources that are made
anew; what others need, too, such as the parsed page, counts for each.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dedup.fields.page_source import PageSource, reduced
from dedup.fields.registry import FIELDS, Field
from dedup.store import JobStore, Page, open_store
from dedup.store.records import compressed


def milliseconds(call: Callable[[Page], Any], pages: list[Page]) -> float:
    """CPU time for each page."""
    began = time.process_time()
    for page in pages:
        call(page)
    return 1000 * (time.process_time() - began) / len(pages)


def value(field: Field, page: Page) -> Any:
    """The value of a field, of a source that was made for it."""
    return field.of(PageSource(page))


def pages_of(store: JobStore, at_most: int) -> list[Page]:
    """Pages with bodies, evenly distributed from first to last."""
    numbers = [number for _, number, _ in store.report.stored_bodies()]
    step = max(1, len(numbers) // at_most)
    return [store.page(number) for number in numbers[::step][:at_most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", type=Path)
    parser.add_argument("--pages", type=int, default=500)
    options = parser.parse_args()
    with open_store(options.job, read_only=True) as store:
        pages = pages_of(store, options.pages)
    if not pages:
        raise SystemExit(f"{options.job} has no stored bodies")
    print(f"{len(pages)} pages of {options.job}")
    for name, field in FIELDS.items():
        if field.reads != "row":
            took = milliseconds(partial(value, field), pages)
            print(f"{name:18} {took:9.2f} ms")
    kept = [found for page in pages if (found := reduced(page, is_final=True)) is not None]
    took = milliseconds(lambda page: reduced(page, is_final=True), pages)
    sizes = {
        "text": sum(len(page.packed_text) for page in pages),
        "body": sum(len(page.packed_body or b"") for page in pages),
        "in place of a body": sum(len(compressed(each.to_bytes())) for each in kept),
    }
    print(f"in place of a body {took:9.2f} ms")
    for name, size in sizes.items():
        print(f"{name:18} {size / len(pages):9,.0f} bytes a page, compressed")


if __name__ == "__main__":
    main()
