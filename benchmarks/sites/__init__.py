"""`python -m benchmarks site|sites`: crawls of real sites, judged by what their readers see.

The theme of a site puts each page's own content into an element of its own. Those elements are the
truth, so nothing that reads them here is shared with the crawler's own extraction.
"""
