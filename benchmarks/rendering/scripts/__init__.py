"""Programs of the crawlers that are compared, each run as a process of its own."""
