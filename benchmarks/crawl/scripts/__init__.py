"""Command lines of their own, run by path: they import nothing of this project."""
