"""`dedup demo`: crawls the demo site, served on loopback."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Crawl a small site with every kind of duplicate. It is served on this machine; each run"
        " is a new job in the folder crawls."
    )


def execute(options: argparse.Namespace) -> int:  # noqa: ARG001 -- as of all commands
    from dedup.scrapy.standalone import crawl

    return crawl("demo", {}, {}).status
