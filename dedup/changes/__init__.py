"""What has changed on the pages of a job since some time."""

from dedup.changes.listing import Change, Changes, as_row, moment, settle

__all__ = ["Change", "Changes", "as_row", "moment", "settle"]
