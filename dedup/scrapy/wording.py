"""How messages name what a user gives: arguments of spiders, or options of `dedup crawl`."""

from typing import NamedTuple


class Wording(NamedTuple):
    """Parts of messages.

    Attributes:
        start: how a crawl begins at a URL.
        add: where one more URL is added.
        name: how a job is named.
        again: what can be done with a finished job.
    """

    start: str
    add: str
    name: str
    again: str


_ARGUMENTS = Wording(
    start="-a url={}",
    add="-a url=",
    name="-a job=NAME",
    again="For a new crawl use -a restart=1, or another name with -a job=NAME",
)

_OPTIONS = Wording(
    start="dedup crawl {}",
    add="the command",
    name="--job NAME",
    again="--refresh revisits its pages; for a new crawl use --job NAME",
)

_used = _ARGUMENTS


def wording() -> Wording:
    """The wording of the command that this process runs."""
    return _used


def use_options() -> None:
    """Name options from now on: the process runs `dedup crawl`."""
    global _used
    _used = _OPTIONS
