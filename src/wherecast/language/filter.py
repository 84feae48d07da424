"""A filter: the text of a WHERE clause and what it means on a schema."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from wherecast.language.explanation import Explanation, explain
from wherecast.language.filter_plan import FilterPlan, filter_plan
from wherecast.language.meaning import covering
from wherecast.language.meaning.evaluate import Row, Verdict, evaluate
from wherecast.language.meaning.expression import Expression
from wherecast.language.meaning.formula import NOW
from wherecast.language.meaning.normal_form import NormalForm, normalise
from wherecast.language.text.triples import bind_triples, parse_triples, read_triples
from wherecast.language.text.where import read_where
from wherecast.language.text.write import write
from wherecast.model import DEFAULT_LIMITS, FilterError, Limits, Schema
from wherecast.model.times import current_micros, time_micros


def read_expression(text: str, schema: Schema, limits: Limits) -> Expression:
    """The expression of a filter's text: a WHERE clause, or PADRES triples where it opens with [.

    Raises:
        FilterError: with the place and a hint.
    """
    if not isinstance(text, str):
        raise FilterError(f"a filter is a text, not {type(text).__name__}")
    try:
        return _read_expression(text, schema, limits)
    except FilterError as error:
        error.found_in(text)
        raise


def _read_expression(text: str, schema: Schema, limits: Limits) -> Expression:
    if text.lstrip().startswith("["):
        if len(text.encode("utf-8", "replace")) > limits.filter_text_bytes_max:
            limit = limits.filter_text_bytes_max
            raise FilterError(f"text exceeds the limit of {limit} bytes", code="limit")
        return bind_triples(parse_triples(text), schema, limits)
    return read_where(text, schema, limits)


def _row(schema: Schema, publication: Mapping[str, Any], now: datetime | None) -> Row:
    """The canonical row of a publication, with the time that `now()` gives."""
    times = current_micros() if now is None else time_micros(now)
    return {**schema.read(publication), NOW.name: times}


class Filter:
    """A WHERE clause, read and checked against a schema.

    Attributes:
        text: the text as it was given.
        schema: the schema that the filter was checked against.
        expression: the meaning of the text, as a tree of predicates.
        normal: the same meaning as a disjunction of conjunctions.

    Raises:
        FilterError: the filter cannot be accepted; `position` and `hint` tell where and why.
    """

    __slots__ = ("__dict__", "expression", "normal", "schema", "text")

    def __init__(self, text: str, schema: Schema, limits: Limits = DEFAULT_LIMITS) -> None:
        self._set(text, read_expression(text, schema, limits), schema, limits)

    @classmethod
    def from_triples(
        cls, triples: Iterable[Any], schema: Schema, limits: Limits = DEFAULT_LIMITS
    ) -> "Filter":
        """The filter that joins Python triples such as `[("volume", ">", 300000)]` by AND."""
        expression = bind_triples(read_triples(triples), schema, limits)
        return cls._of(write(expression), expression, schema, limits)

    @classmethod
    def _of(cls, text: str, expression: Expression, schema: Schema, limits: Limits) -> "Filter":
        made = cls.__new__(cls)
        made._set(text, expression, schema, limits)
        return made

    def _set(self, text: str, expression: Expression, schema: Schema, limits: Limits) -> None:
        self.text = text
        self.schema = schema
        self.expression = expression
        self.normal: NormalForm = normalise(expression, limits)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to the author of the filter: that it can never match, and why."""
        if covering.possible(self.normal):
            return ()
        outside = [
            f"no value that {constraint.attribute.name} may have satisfies the filter"
            for conjunction in self.normal.conjunctions
            for constraint in conjunction.constraints
            if covering.effective(constraint) is None
        ]
        reasons = dict.fromkeys([*self.normal.impossible, *outside])
        return (f"can never match: {'; '.join(list(reasons)[:3])}",)

    @cached_property
    def plan(self) -> FilterPlan:
        """How an index of kind `columnar` serves the filter: indexed, checked, computed."""
        return filter_plan(self.expression)

    def matches(self, publication: Mapping[str, Any], now: datetime | None = None) -> bool:
        """Whether a publication satisfies the filter.

        Args:
            publication: its attributes.
            now: the value of `now()`; by default the time of the call.

        Raises:
            PublicationError: the schema refuses the publication.
        """
        return self.evaluate(_row(self.schema, publication, now)) is True

    def evaluate(self, row: Row) -> Verdict:
        """True, False or None (unknown) for a canonical row, as `Schema.read` gives it."""
        return evaluate(self.expression, row)

    def explain(self, publication: Mapping[str, Any], now: datetime | None = None) -> Explanation:
        """Why a publication matches or does not, predicate by predicate.

        Args:
            publication: its attributes.
            now: the value of `now()`; by default the time of the call.

        Raises:
            PublicationError: the schema refuses the publication.
        """
        return explain(self.expression, _row(self.schema, publication, now), self.plan)

    def covers(self, other: "Filter") -> bool:
        """Whether every publication that matches `other` also matches this filter.

        True is certain; False may only mean that the proof was not found.
        """
        return self == other or covering.covers(self.normal, other.normal)

    def overlaps(self, other: "Filter") -> bool:
        """Whether some publication may match both filters; False is certain."""
        return covering.overlaps(self.normal, other.normal)

    def __str__(self) -> str:
        return write(self.expression)

    def __repr__(self) -> str:
        return f"Filter({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return self.expression == other.expression and self.schema == other.schema

    def __hash__(self) -> int:
        return hash(self.expression)
