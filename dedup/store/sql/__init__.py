"""What the SQL stores have in common. Each has its own `Database`."""
