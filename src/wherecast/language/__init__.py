"""The language of filters: from the text of a WHERE clause to a table of predicates."""

from wherecast.language.bulk.read_column import read_filters
from wherecast.language.explanation import Explanation, Reason
from wherecast.language.filter import Filter
from wherecast.language.filter_plan import FilterPlan
from wherecast.language.table.predicate_table import Kind, PredicateTable

__all__ = [
    "Explanation",
    "Filter",
    "FilterPlan",
    "Kind",
    "PredicateTable",
    "Reason",
    "read_filters",
]
