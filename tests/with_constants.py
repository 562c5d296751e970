"""Runs `python -m MODULE` with other constants: `with_constants.py VALUES -m MODULE …`.

VALUES is a JSON object: from `module.NAME` to the value, below `dedup.scrapy`.
"""

import json
import runpy
import sys
from collections.abc import Mapping
from importlib import import_module


def with_constants(values: Mapping[str, object]) -> tuple[str, str]:
    """The arguments of Python that go before `-m MODULE`."""
    return (__file__, json.dumps(values))


def groups_of(n_pages: int) -> tuple[str, str]:
    """The same, for a crawl that commits so many pages together."""
    return with_constants({"job.place._GROUP_PAGES": n_pages})


def main() -> None:
    sys.path[0] = ""
    for path, value in json.loads(sys.argv[1]).items():
        module, _, name = path.rpartition(".")
        owner = import_module(f"dedup.scrapy.{module}")
        assert hasattr(owner, name), path
        setattr(owner, name, value)
    sys.argv = sys.argv[3:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
