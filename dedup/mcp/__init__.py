"""`dedup mcp`: jobs for language models, by the Model Context Protocol. Jobs are only read."""
