"""The job of a crawl: its state, which the components of a crawler share."""
