"""One crawl's state, shared by the components of a crawler."""
