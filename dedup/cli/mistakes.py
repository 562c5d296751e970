"""What a user may have meant: the command, or the job."""

from difflib import get_close_matches
from pathlib import Path

from dedup.errors import StateError
from dedup.store import STORE_NAME

_MOST_NAMED = 5


def unknown_command(given: str, commands: list[str]) -> str:
    """The sentence for a command that there is not."""
    near = get_close_matches(given, commands, n=1)
    meant = f"did you mean dedup {near[0]}?" if near else "dedup --help lists all"
    return f"unknown command {given!r}; {meant}"


def known_jobs(error: StateError) -> str:
    """Which jobs there are, where one was not found: the nearest first; else nothing."""
    if error.problem != "job not found":
        return ""
    asked = error.path.parent  # of its store
    places = {Path("crawls"), asked, asked.parent}
    found = sorted({str(each.parent) for place in places for each in place.glob(f"*/{STORE_NAME}")})
    if not found:
        return "; dedup crawl URL makes one"
    nearest = get_close_matches(str(asked), found, n=_MOST_NAMED, cutoff=0.3)
    named = (nearest + [each for each in found if each not in nearest])[:_MOST_NAMED]
    return f"; there are {', '.join(named)}" + (", …" if len(found) > len(named) else "")
