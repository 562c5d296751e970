"""Patterns in how URLs of duplicates differ from those of their originals."""
