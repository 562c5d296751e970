"""The spiders of the project: `site`, `sitemap`, `urls`, `demo`. Add your own here."""
