"""Indexes: which filters a publication satisfies."""

from wherecast.matching.index import Index
from wherecast.matching.index_parts import IndexPart, IndexParts, join_parts
from wherecast.matching.matches import Id, Matches

__all__ = ["Id", "Index", "IndexPart", "IndexParts", "Matches", "join_parts"]
