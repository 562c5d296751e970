"""Rich's console with two corrections, for the progress and the closing table."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live


class TerminalConsole(Console):
    """Writes nothing more when its output is closed, as by Ctrl-C on `scrapy … | tee`.

    Rich would end the process at once, and the crawl would not be closed properly.
    """

    @property
    def can_show_panel(self) -> bool:
        """Is it a terminal that can erase what is on it?"""
        return self.is_terminal and not self.is_dumb_terminal

    def on_broken_pipe(self) -> None:
        self.quiet = True


def note_width(live: Live, before: int, now: int) -> None:
    """Let Rich erase all of the last frame when the terminal has become narrower.

    The terminal then breaks each line of the frame, which takes more lines than Rich has written.
    """
    rendered = live._live_render
    if now < before and rendered._shape is not None:
        *_, height = rendered._shape
        rendered._shape = now, (height - 1) * -(-before // now) + 1
