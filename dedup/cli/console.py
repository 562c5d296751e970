"""Where the commands report: standard error, so that standard output stays the results'.

Much of what is reported was written by strangers: URLs, titles, texts. It is data: never markup of
Rich's, and without the characters that steer a terminal.
"""

from typing import Any

from rich.console import Console

from dedup.terminal.plain import plain as plain

ERRORS = Console(stderr=True, highlight=False, markup=False)

_PIPED_WIDTH = 10_000


class _Piped(Console):
    """A console whose lines are neither wrapped nor padded, as Rich's tables are."""

    def print(self, *objects: Any, **options: Any) -> None:
        with self.capture() as captured:
            super().print(*objects, **options)
        lines = captured.get().split("\n")
        self.file.write("\n".join(line.rstrip(" ") for line in lines))


def output_console() -> Console:
    """The console of standard output, as it is now."""
    console = Console(highlight=False, markup=False)
    if console.is_terminal:
        return console
    return _Piped(highlight=False, markup=False, width=_PIPED_WIDTH)
