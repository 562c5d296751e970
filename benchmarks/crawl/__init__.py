"""`python -m benchmarks crawl`: our crawler beside others, on sites that nginx serves.

Every contender is a command line, run in a process of its own; nothing of them is imported here.
What each found is read from the server's log, not from what it says of itself.
"""
