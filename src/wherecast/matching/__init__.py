"""Indexes: which filters a publication satisfies."""

from wherecast.matching.index import Index
from wherecast.matching.matches import Id, Matches

__all__ = ["Id", "Index", "Matches"]
