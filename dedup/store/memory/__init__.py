"""A store in memory, which ends with the process."""

from dedup.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
