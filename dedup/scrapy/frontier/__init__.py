"""The queue of URLs to fetch: it is in the job's store, and a part of it in memory."""
