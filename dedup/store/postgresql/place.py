"""The address of a job in PostgreSQL: `postgresql://USER@HOST:PORT/DATABASE#NAME`."""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

SCHEMES = ("postgresql://", "postgres://")

JOB_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,47}", re.ASCII)
"""The name of a job is that of its schema. It leaves room for `-old-1`."""

_RESERVED = re.compile(r"pg_.*|public|information_schema")
_SECRETS = {"password", "sslpassword"}
_FORM = "postgresql://USER@HOST:PORT/DATABASE"


@dataclass(frozen=True, slots=True)
class Place:
    """A job by the address of its database and its name.

    Attributes:
        dsn: the address for libpq. It may contain a password, so it is never shown.
        name: the name of the job.
    """

    dsn: str = field(repr=False)
    name: str

    @property
    def database(self) -> str:
        """The address without a password, in the form of `DEDUP_STORE`."""
        return without_password(self.dsn)

    def __str__(self) -> str:
        return f"{self.database}#{self.name}"


def is_address(text: object) -> bool:
    """Is this the address of a database, not a folder?"""
    return isinstance(text, str) and text.startswith(SCHEMES)


def parse_place(text: str) -> Place:
    """Parse `postgresql://…/DATABASE#NAME`.

    Raises:
        ValueError: the address has another form.
    """
    dsn, _, name = text.partition("#")
    if not is_address(dsn) or not name:
        raise ValueError(f"a PostgreSQL job must be {_FORM}#NAME, got {without_password(text)!r}")
    check_name(name)
    return Place(dsn, name)


def check_name(name: str) -> None:
    """Check the name of a job.

    Raises:
        ValueError: it has characters that are not allowed, or is reserved by PostgreSQL.
    """
    if not JOB_NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise ValueError(
            "the name of a PostgreSQL job must be 1 to 48 lower case letters, digits, _ and -,"
            f" and not a schema of PostgreSQL's own, got {name!r}"
        )


def name_like(text: str) -> str:
    """A valid name for a job, always the same for the same text.

    >>> name_like("docs.example.org")
    'docs-example-org'
    """
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower(), flags=re.ASCII)[:48].strip("-") or "job"
    return f"job-{name}"[:48] if _RESERVED.fullmatch(name) else name


def without_password(address: str) -> str:
    """The address without its password, for messages.

    >>> without_password("postgresql://me:secret@db:5432/crawls?sslmode=require#news")
    'postgresql://me@db:5432/crawls?sslmode=require#news'
    """
    if "://" not in address:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return "…"
    user, at, host = parts.netloc.rpartition("@")
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SECRETS]
    netloc = user.partition(":")[0] + at + host
    shown = parts._replace(netloc=netloc, query=urlencode(query, safe="/", errors="replace"))
    text = urlunsplit(shown)
    # An address without a host keeps both of its slashes.
    return text if netloc else text.replace(f"{parts.scheme}:/", f"{parts.scheme}:///", 1)
