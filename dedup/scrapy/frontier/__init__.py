"""The queue of URLs to fetch: in the job's store, and a window of it in memory."""
