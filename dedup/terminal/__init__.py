"""Output of commands and crawls: safe characters, and the table of a job's counts."""
