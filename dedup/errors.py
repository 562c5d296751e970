"""The errors that callers may handle separately. Wrong arguments raise `ValueError` as usual."""

from pathlib import Path


class StateError(Exception):
    """A state file (a job's store) cannot be used. It is unchanged.

    The message tells a user what is wrong, where, and what to do.
    """

    def __init__(self, path: Path | str, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = Path(path)
        self.problem = problem
        self.remedy = remedy


class DamageError(StateError):
    """One record of a state file cannot be read."""

    def __init__(self, path: Path | str, problem: str) -> None:
        super().__init__(path, problem, "Restore it from a copy, or move it and crawl again")


def in_use(path: Path | str, holder: str) -> StateError:
    """The error for a job that another process has locked."""
    problem = f"the job is in use by another process ({holder})"
    return StateError(
        path,
        problem,
        "Wait for it to end (dedup stats JOB shows how far it is), or use another job name",
    )


def wrong_version(path: Path | str, expected: int, found: object) -> StateError:
    """The error for a job of a release with different tables."""
    problem = f"expected schema version {expected}, found {found}"
    return StateError(
        path, problem, "Read it with the release that made it, or crawl into a new job"
    )


class SchemeError(StateError):
    """The store was made with different features, weights, widths or rules."""


class CrawlError(Exception):
    """A crawl that a program asked for could not start, or has fetched nothing.

    Attributes:
        status: the exit status of `dedup crawl`.
        said: the end of what it printed.
    """

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"the crawl ended with status {status}: {said}")
        self.status = status
        self.said = said
