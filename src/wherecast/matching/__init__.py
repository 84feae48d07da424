"""Indexes: which filters a publication satisfies."""

from wherecast.matching.index import Index
from wherecast.matching.index_parts import IndexPart, Parts, join_parts
from wherecast.matching.matches import Id, Matches

__all__ = ["Id", "Index", "IndexPart", "Matches", "Parts", "join_parts"]
