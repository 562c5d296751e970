"""The report of a job: data, rows and page."""
