"""Downloader and spider middlewares."""
