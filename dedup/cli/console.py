"""The consoles of the commands: messages go to standard error, results to standard output.

URLs, titles and texts are untrusted. They are printed as data: never as markup for Rich, and
without characters that control a terminal.
"""

from typing import Any

from rich.console import Console

from dedup.terminal.plain import plain as plain

ERRORS = Console(stderr=True, highlight=False, markup=False, emoji=False)

_PIPED_WIDTH = 10_000


class _Piped(Console):
    """A console that does not wrap or pad lines, unlike tables of Rich."""

    def print(self, *objects: Any, **options: Any) -> None:
        with self.capture() as captured:
            super().print(*objects, **options)
        lines = captured.get().split("\n")
        self.file.write("\n".join(line.rstrip(" ") for line in lines))


def output_console() -> Console:
    """The console of the current standard output."""
    console = Console(highlight=False, markup=False, emoji=False)
    if console.is_terminal:
        return console
    return _Piped(highlight=False, markup=False, emoji=False, width=_PIPED_WIDTH)
