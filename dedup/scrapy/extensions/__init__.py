"""Extensions: files of the job, progress, Prometheus, stopping, waiting pages."""
