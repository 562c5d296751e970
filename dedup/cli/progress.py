"""Progress of commands that take long: a bar on a terminal, else a line a minute."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from dedup.cli.console import ERRORS, plain

_LINE_SECONDS = 60.0


@contextmanager
def showing_progress(
    what: str,
    total: int,
    words: Callable[[int, float], str],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with how much of the total is done.

    `words` tells more, by what is done and the seconds since the beginning.
    """
    began = told = clock()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[words]}", markup=False),
        TimeRemainingColumn(),
    )
    has_lines = not ERRORS.is_terminal or ERRORS.is_dumb_terminal
    with Progress(*columns, console=ERRORS, transient=True, disable=has_lines) as bar:
        task = bar.add_task(plain(what), total=max(total, 1), words="")

        def show(done: int) -> None:
            nonlocal told
            now = clock()
            if not has_lines:
                bar.update(task, completed=done, words=words(done, now - began))
            elif now - told >= _LINE_SECONDS:
                told = now
                share = f"{done / max(total, 1):.0%}"
                ERRORS.print(f"{plain(what)}: {share}, {words(done, now - began)}", soft_wrap=True)

        yield show


def counting(what: str) -> Callable[[int, float], str]:
    """How many there are, and how many a second."""
    return lambda done, seconds: rate(done, what, seconds)


def rate(done: int, what: str, seconds: float) -> str:
    return f"{done:,} {what}, {done / seconds if seconds else 0:,.0f}/s"
