"""A store in memory, which is lost when the process ends."""

from dedup.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
