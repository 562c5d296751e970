"""Middlewares: what becomes of redirects, and of a job that goes on."""
