"""The report of a job: its data, rows and page."""
