"""What the project's spiders share: scope, links, sitemaps, and reading pages."""
