"""All that depends on parts of Scrapy that its documentation does not name.

Releases of Scrapy differ in these parts. The modules here hide the differences between 2.13 and
2.19 behind typed functions; no other module uses such a part (tests/test_imports.py).

- `commands`: commands, add-ons and settings
- `engine`: the engine and its spider
- `downloads`: the downloader's slots
- `reactor`: Twisted's reactor, and repeated calls
- `refusal`: one sentence in the log instead of a traceback
"""
