"""Pages as a browser shows them: Chromium, and the bounds within which it renders a page."""
