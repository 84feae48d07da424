"""Indexes: which filters a publication satisfies."""

from wherecast.matching.index import Index
from wherecast.matching.matches import Id, Matches
from wherecast.matching.parts import Part, Parts, join_parts

__all__ = ["Id", "Index", "Matches", "Part", "Parts", "join_parts"]
