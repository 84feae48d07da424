"""The language of filters: from the text of a WHERE clause to a table of predicates."""

from wherecast.language.explain import Explanation, Reason
from wherecast.language.filter import Filter

__all__ = ["Explanation", "Filter", "Reason"]
