"""`dedup serve`: has any of several jobs this page? Answered over HTTP. Jobs are only read."""
