"""Patterns by which the URLs of duplicates differ from those of their originals."""
