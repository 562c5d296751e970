"""Errors of PostgreSQL as one clear error, without a password in it."""

import contextlib
from collections.abc import Iterator

import psycopg
from psycopg import errors

from dedup.errors import StateError
from dedup.store.postgresql.place import Place

_REACH = (
    "Check host, port, user and password (PGPASSWORD, ~/.pgpass), and that the server is running"
)
_AGAIN = "Check the server and its log, then rerun the same command"


class UnreachableError(StateError):
    """No connection could be established."""


_PASSING = {"57P01", "57P02", "57P03", "57P05", "25006", "25P03"}
"""The server shuts down, starts, is not (yet) a primary, or has ended an idle session."""

_PASSING_CLASSES = {"08", "53", "58"}
"""The connection is lost; disk, memory or connections are exhausted; the system fails."""

_OTHER_TABLES = {"3F", "42"}
"""No such schema, table or column, or a column of another type."""


def is_passing(error: psycopg.Error, *, is_closed: bool) -> bool:
    """May the same query succeed later?"""
    code = error.sqlstate
    if code is None:
        return is_closed or isinstance(error, psycopg.OperationalError)
    return code in _PASSING or code[:2] in _PASSING_CLASSES


@contextlib.contextmanager
def reporting(place: Place) -> Iterator[None]:
    """Raise `StateError` for errors of PostgreSQL, or for a server that is gone."""
    try:
        yield
    except psycopg.Error as error:
        raise as_state_error(place, error) from error


def as_state_error(place: Place, error: psycopg.Error) -> StateError:
    said = _sentence(error)
    if isinstance(error, errors.InsufficientPrivilege):
        return StateError(
            str(place),
            f"the user lacks a privilege ({said})",
            "Grant it: a job is a schema that its user creates (CREATE on the database) and owns",
        )
    if isinstance(error, errors.DiskFull):
        return StateError(str(place), f"the server's disk is full ({said})", _AGAIN)
    if (error.sqlstate or "")[:2] in _OTHER_TABLES:
        remedy = "Restore the job from a copy, or crawl into a new one"
        return StateError(str(place), f"its tables are not a job's ({said})", remedy)
    return StateError(str(place), f"the database cannot be used ({said})", _AGAIN)


def not_reached(place: Place, error: psycopg.Error) -> UnreachableError:
    """The error for a connection that could not be established."""
    return UnreachableError(
        str(place), f"the database cannot be reached ({_sentence(error)})", _REACH
    )


def _sentence(error: psycopg.Error) -> str:
    said = error.diag.message_primary or str(error).strip() or type(error).__name__
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if len(lines) > 1 and "failed" in lines[-1] else lines[0]
