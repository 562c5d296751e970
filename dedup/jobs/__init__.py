"""Jobs in Python: `crawl` makes one, `open_job` opens one to be read and searched."""
