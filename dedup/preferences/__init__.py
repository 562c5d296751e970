"""What sites declare of the uses of their pages: recorded as declared."""
