"""What the stores that speak SQL have in common; each is a `Database` and what differs."""
