"""`dedup demo`: crawls the demo site, served on loopback."""

import argparse

from dedup.cli.arguments import QUIET


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Crawl a small site with every kind of duplicate. It is served on this machine; each run"
        " is a new job in the folder crawls."
    )


def execute(options: argparse.Namespace) -> int:
    from dedup.scrapy.standalone import crawl

    return crawl("demo", {}, QUIET if options.quiet else {}).status
