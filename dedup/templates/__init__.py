"""Templates of sites, learned from their pages, and a page's own text by them."""
