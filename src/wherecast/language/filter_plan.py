"""How an index would serve a filter, in the words of the language."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.expression import (
    And,
    Compared,
    Distance,
    Expression,
    Pattern,
    Predicate,
    attributes_of,
)
from wherecast.language.meaning.index_plan import IndexPlan, plan
from wherecast.language.meaning.normal_form import form_of
from wherecast.language.text.write import write

_NEVER = "nothing, since the filter can never match"


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """What of a filter is indexed, what is checked afterwards, and which formulas are computed.

    An index of kind `columnar` works so. The texts are parts of WHERE clauses; `str` shows them in
    lines.

    Attributes:
        indexed: the conjunctions by which an index finds candidates; one of them holds wherever the
            filter does. `TRUE` makes every publication a candidate. Empty where the filter can
            never match.
        checked: the predicates that are tested on candidates; empty where the conjunctions decide.
            The candidates of one conjunction may need only some of the tests.
        formulas: the formulas that are computed.
    """

    indexed: tuple[str, ...]
    checked: tuple[str, ...]
    formulas: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """The plan as JSON has it: `indexed`, `checked` and `formulas`, lists of texts."""
        return {
            "indexed": list(self.indexed),
            "checked": list(self.checked),
            "formulas": list(self.formulas),
        }

    def __str__(self) -> str:
        parts = [("indexed", self.indexed or (_NEVER,)), ("checked", self.checked)]
        return "\n".join(
            f"{title if not number else '':<9} {text}"
            for title, texts in [*parts, ("formulas", self.formulas)]
            for number, text in enumerate(texts)
        )


def filter_plan(expression: Expression) -> FilterPlan:
    """The plan of a filter."""
    made = plan(expression)
    possible = [leaves for leaves in made.conjunctions if form_of([leaves]).conjunctions]
    if not possible:
        return FilterPlan((), (), ())
    return FilterPlan(
        _distinct(_found_by(leaves) for leaves in possible),
        _distinct(write(leaf) for leaf in _checked(made, possible)),
        _distinct(
            attribute.name
            for leaf in [*(leaf for leaves in possible for leaf in leaves), *_tests(made)]
            for attribute in attributes_of(leaf)
            if isinstance(attribute, Derived)
        ),
    )


def _found_by(leaves: Sequence[Predicate]) -> str:
    """The predicates of a conjunction that an index looks up; TRUE where there are none."""
    return write(And(tuple(leaf for leaf in leaves if not isinstance(leaf, Pattern | Compared))))


def _checked(made: IndexPlan, possible: Sequence[Sequence[Predicate]]) -> list[Predicate]:
    """The tests of the program, or what an index cannot look up of conjunctions that decide."""
    return _tests(made) or [
        leaf
        for leaves in possible
        for leaf in leaves
        if isinstance(leaf, Pattern | Compared | Distance)
    ]


def _tests(made: IndexPlan) -> list[Predicate]:
    return [test.leaf for test in made.program]


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
