"""What commands and crawls print: safe characters, and the table of a job's counts."""
