"""Extensions: a job's files, and progress on the terminal."""
