"""What the pages of one site have in common, and what is a page's own."""
