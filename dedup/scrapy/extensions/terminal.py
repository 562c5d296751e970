"""Where the progress and the closing table are shown: Rich's console, mended in two places."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live


class TerminalConsole(Console):
    """Falls silent when nobody reads any more what it shows, as after Ctrl-C on `scrapy … | tee`.

    Rich would end the process there, from within whatever runs, and leave the crawl half closed.
    """

    def on_broken_pipe(self) -> None:
        self.quiet = True


def note_width(live: Live, before: int, now: int) -> None:
    """Have all of the last frame erased where the terminal has become narrower since.

    It breaks each line of the frame then, and the frame takes more lines than Rich has written.
    """
    rendered = live._live_render
    if now < before and rendered._shape is not None:
        *_, height = rendered._shape
        rendered._shape = now, (height - 1) * -(-before // now) + 1
