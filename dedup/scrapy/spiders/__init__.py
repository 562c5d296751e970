"""What the project's spiders share: the scope, links, sitemaps, and the way of a page."""
