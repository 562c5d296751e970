"""The spiders: `site`, `sitemap`, `urls`, `demo`."""
