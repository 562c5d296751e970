"""Why a page was kept or dropped: the records of the store, and a replay of the decisions."""
