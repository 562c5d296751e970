"""From a response to what it says, in a process of its own where there is a core for it."""
