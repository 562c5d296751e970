"""Where the commands report: standard error, so that standard output stays the results'.

Much of what is reported was written by strangers: URLs, titles, texts. It is data: never markup of
Rich's, and without the characters that steer a terminal.
"""

from rich.console import Console

from dedup.terminal.plain import plain as plain

JOB_HELP = "the job's folder, or postgresql://…/DATABASE#NAME"
"""What an argument `JOB` is."""

ERRORS = Console(stderr=True, highlight=False, markup=False)


_PIPED_WIDTH = 10_000


def output_console() -> Console:
    """The console of standard output, as it is now; in a file or a pipe, no line is wrapped."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    return console
