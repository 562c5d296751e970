"""`python -m benchmarks markdown`: is the structure of pages still there when Markdown is rendered?

What a page's container has is compared with what is left of it: headings with their level, lines of
programs, cells of tables, items of lists with their depth, and links. Nothing that reads them here
is shared with the conversion.
"""
