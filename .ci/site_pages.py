"""What MkDocs does to the pages of docs/: the reference, written from the code, and links."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import dedup
from dedup.cli import COMMANDS, main
from dedup.detectors import STAGES
from dedup.fields.registry import FIELDS

_SETTINGS = Path(dedup.__file__).parent / "scrapy" / "default_settings.py"
_MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
_LINK_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
_PAGE_NAMED = re.compile(r"\bdocs/(\w+\.md)\b")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what is generated; links to files that the site does not have become their text."""
    whole = _MARK.sub(lambda found: GENERATED[found[1]](), markdown)
    return _LINK_OUTSIDE.sub(r"\1", whole)


def commands() -> str:
    """The help of each command, as 80 columns show it."""
    os.environ["COLUMNS"] = "80"
    return "\n".join(f"### {name}\n\n```text\n{_help(name)}```\n" for name in COMMANDS)


def _help(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([command, "--help"])
    return printed.getvalue()


def settings() -> str:
    """Each setting with its default and its docstring, below the sections of their module."""
    source = _SETTINGS.read_text(encoding="utf-8")
    lines = source.splitlines()
    body = ast.parse(source).body
    written: list[str] = []
    end = 0
    for node, after in pairwise(body):
        documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        settable = isinstance(node, (ast.Assign, ast.AnnAssign)) or _is_switches(node)
        if not (settable and documented):
            continue
        sections = [line for line in lines[end : node.lineno] if line.startswith("# --- ")]
        written += [f"### {line.strip('# -')}\n" for line in sections]
        end = after.end_lineno or 0
        written.append(_setting(node, inspect.cleandoc(str(ast.literal_eval(after.value)))))
    return "\n".join(written)


def _is_switches(node: ast.stmt) -> bool:
    """Whether this sets one switch for each stage."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def _setting(node: ast.stmt, text: str) -> str:
    if isinstance(node, ast.Assign):
        (target,), value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        target, value = node.target, node.value
    else:
        names = [f"DEDUP_{stage.upper()}_ENABLED" for stage in STAGES]
        return (
            f"#### Switches of the stages\n\n`{'`, `'.join(names)}` = `True`\n\n{_linked(text)}\n"
        )
    name = ast.unparse(target)
    return f"#### {name}\n\nDefault: `{ast.unparse(value)}`\n\n{_linked(text)}\n"


def _linked(text: str) -> str:
    return _PAGE_NAMED.sub(r"[\1](\1)", text)


def fields() -> str:
    """A table of the fields of a page."""
    head = "| field | type in Parquet | computed from | needs |\n|---|---|---|---|\n"
    return head + "".join(
        f"| `{name}` | {_kind(field.kind)} | {_READ[field.reads]} | {field.extra} |\n"
        for name, field in FIELDS.items()
    )


_READ = {
    "row": "what is stored of it",
    "text": "its text",
    "markup": "its markup",
    "visits": "what refreshes found",
    "preferences": "what it and its host declare",
    "rendering": "how the page was read",
}


def _kind(kind: object) -> str:
    """A type in words."""
    if isinstance(kind, list):
        return f"list of {_kind(kind[0])}"
    if isinstance(kind, dict):
        return "{" + ", ".join(f"{name}: {_kind(value)}" for name, value in kind.items()) + "}"
    return str(kind)


def python() -> str:
    """The public names of the package, with their signatures and docstrings."""
    return "\n".join(_documented(name, getattr(dedup, name)) for name in sorted(dedup.__all__))


def _documented(name: str, value: Any) -> str:
    parts = [f"### {name}\n", f"```python\n{_signature(name, value)}\n```\n", _text(value)]
    if inspect.isclass(value):
        for method, function in vars(value).items():
            if not method.startswith("_") and inspect.isfunction(function):
                parts.append(f"#### {name}.{method}\n")
                parts.append(f"```python\n{_signature(method, function)}\n```\n")
                parts.append(_text(function))
    return "\n".join(parts)


def _signature(name: str, value: Any) -> str:
    """How it is called, as it is written in the code where that is possible."""
    function = vars(value).get("__init__") if inspect.isclass(value) else value
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):  # made by `dataclass`, or of an exception
        return _short(name + str(inspect.signature(value)))
    (node,) = (each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef))
    arguments = re.sub(r"^self(, )?", "", ast.unparse(node.args))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return _short(f"{name}({arguments}){returns}")


def _short(called: str) -> str:
    """A signature without the modules of types, and in lines if it is long."""
    called = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", called).replace(" -> None", "")
    return called if len(called) <= 90 else re.sub(r", (?=\w+:|\*)", ",\n    ", called)


def _text(value: Any) -> str:
    """A docstring as Markdown: its parts, such as Args, become lists; its examples, code."""
    text = re.sub(r"\n {8,}", " ", inspect.getdoc(value) or "")
    text = re.sub(r"^(>>> (?:.+\n?)+)", r"```python\n\1\n```\n", text, flags=re.MULTILINE)
    text = re.sub(
        r"^(Args|Attributes|Raises|Returns|Yields):$", r"**\1**\n", text, flags=re.MULTILINE
    )
    return re.sub(r"^    ([\w, ]+): ", r"- `\1`: ", text, flags=re.MULTILINE) + "\n"


GENERATED = {"commands": commands, "settings": settings, "fields": fields, "python": python}
"""What a page may ask for, by its name."""
