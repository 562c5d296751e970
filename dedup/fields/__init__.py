"""What can be told of a stored page beyond its text."""
