"""Indexes of fingerprints."""

from dedup.index.layouts import Block, Layout
from dedup.index.permuted_tables import PermutedTables

__all__ = ["Block", "Layout", "PermutedTables"]
