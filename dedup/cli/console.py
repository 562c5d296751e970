"""Where the commands report: standard error, so that standard output stays the results'."""

from rich.console import Console

ERRORS = Console(stderr=True, highlight=False)
