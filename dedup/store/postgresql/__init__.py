"""A job's store in PostgreSQL. Needs psycopg 3: the extra `postgresql`."""

from dedup.store.postgresql.place import (
    Place,
    check_name,
    is_address,
    name_like,
    parse_place,
    without_password,
)

__all__ = ["Place", "check_name", "is_address", "name_like", "parse_place", "without_password"]
