"""The texts of pages in pieces for search indexes, each with an id that its words alone decide."""

from dedup.pieces.cutting import Piece, cut
from dedup.pieces.words import Count, count_words

__all__ = ["Count", "Piece", "count_words", "cut"]
