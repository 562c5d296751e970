"""Several processes of one machine that crawl one job: `DEDUP_PROCESSES`.

- `team`: what one of the processes knows of the others
- `child`: a process, as the one that started it sees it
- `supervisor`: starts the processes, stops them, and replaces those that are killed
- `whole_job`: what is checked before they start, and written when they have ended
"""
