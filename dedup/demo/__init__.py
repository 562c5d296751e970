"""The small site that ships with the package, and the loopback server that serves it.

`site/` holds its pages as they are sent. `expected.json` says what must become of each URL of it:
`pages` lists the pages there are for a human reader, each with all URLs that lead to it and how;
`lookalikes` names pages that may be taken for one another but are not the same; `skipped` are URLs
that are asked for, or forbidden, without yielding a page; `never_fetched` lie outside of the site.
"""

from dedup.demo.server import SITE, DemoServer

__all__ = ["SITE", "DemoServer"]
