"""Where a job is in PostgreSQL: `postgresql://USER@HOST:PORT/DATABASE#NAME`."""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

SCHEMES = ("postgresql://", "postgres://")

JOB_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,47}", re.ASCII)
"""A job is a schema of its name; there is room for `-old-1`."""

_RESERVED = re.compile(r"pg_.*|public|information_schema")
_SECRETS = {"password", "sslpassword"}
_FORM = "postgresql://USER@HOST:PORT/DATABASE"


@dataclass(frozen=True, slots=True)
class Place:
    """A job by the address of its database and its name.

    Attributes:
        dsn: the address as libpq takes it; it may hold a password, so it is never shown.
        name: of the job.
    """

    dsn: str = field(repr=False)
    name: str

    @property
    def database(self) -> str:
        """The address without a password, as `DEDUP_STORE` takes it."""
        return without_password(self.dsn)

    def __str__(self) -> str:
        return f"{self.database}#{self.name}"


def is_address(text: object) -> bool:
    """Does this name a database, not a folder?"""
    return isinstance(text, str) and text.startswith(SCHEMES)


def parse_place(text: str) -> Place:
    """Read `postgresql://…/DATABASE#NAME`.

    Raises:
        ValueError: it has another form.
    """
    dsn, _, name = text.partition("#")
    if not is_address(dsn) or not name:
        raise ValueError(f"a PostgreSQL job must be {_FORM}#NAME, got {without_password(text)!r}")
    check_name(name)
    return Place(dsn, name)


def check_name(name: str) -> None:
    """Refuse a name that cannot be that of a job.

    Raises:
        ValueError: it is not made of the right characters, or is PostgreSQL's own.
    """
    if not JOB_NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise ValueError(
            "the name of a PostgreSQL job must be 1 to 48 lower case letters, digits, _ and -,"
            f" and not a schema of PostgreSQL's own, got {name!r}"
        )


def name_like(text: str) -> str:
    """A name that a job can have, the same for the same text.

    >>> name_like("docs.example.org")
    'docs-example-org'
    """
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower(), flags=re.ASCII)[:48].strip("-") or "job"
    return f"job-{name}"[:48] if _RESERVED.fullmatch(name) else name


def without_password(address: str) -> str:
    """The address as it may be shown.

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
