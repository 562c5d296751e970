"""What a job's counts look like to a person."""
