"""What users of a release rely on, a line each: names, options, settings, columns.

A release keeps its lines: `python -m tests.public_surface > tests/released/VERSION.txt`.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from dedup.cli import COMMANDS, _parser
from dedup.fields.registry import FIELDS
from dedup.scrapy import default_settings
from dedup.scrapy.spiders.page_spider import PageSpider
from dedup.store.export_columns import DUPLICATE_FIELDS, EXPORTED_FIELDS

PACKAGES = ("dedup", "dedup.store", "dedup.urls")


def surface() -> set[str]:
    """Each name, parameter, option, setting with its default, spider argument, and column."""
    return {
        *_names(),
        *(line for command in COMMANDS for line in _options(command)),
        *_settings(),
        *(f"-a {name}" for name in _parameters(PageSpider)),
        *(f"field {name}" for name in FIELDS),
        *(f"column of pages {name}" for name in EXPORTED_FIELDS),
        *(f"column of duplicates {name}" for name in DUPLICATE_FIELDS),
    }


def _names() -> Iterator[str]:
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            yield f"{package}.{name}"
            yield from (f"{package}.{name} {each}" for each in _parameters(getattr(module, name)))


def _parameters(value: Any) -> list[str]:
    if not callable(value):
        return []
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:  # an exception without parameters of its own
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each.name for each in parameters if each.kind not in variable]


def _options(command: str) -> Iterator[str]:
    actions = _parser([command])._actions
    (commands,) = (each for each in actions if isinstance(each, argparse._SubParsersAction))
    for action in commands.choices[command]._actions:
        yield from (f"dedup {command} {name}" for name in action.option_strings or [action.dest])


def _settings() -> Iterator[str]:
    for name, value in vars(default_settings).items():
        if name.startswith("DEDUP_"):
            yield f"{name} = {value!r}"


if __name__ == "__main__":
    print(*sorted(surface()), sep="\n")
