"""The language of filters: from the text of a WHERE clause to a table of predicates."""

from wherecast.language.explain import Explanation, Reason
from wherecast.language.filter import Filter
from wherecast.language.read import read_filters
from wherecast.language.table import Kind, PredicateTable

__all__ = ["Explanation", "Filter", "Kind", "PredicateTable", "Reason", "read_filters"]
