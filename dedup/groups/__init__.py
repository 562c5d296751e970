"""Groups of copies on several hosts: who was first, as a guess with its grounds."""
