"""Why a filter matches a publication or does not: a verdict per predicate, and one sentence."""

from dataclasses import dataclass
from typing import Any

from wherecast.language.filter_plan import FilterPlan
from wherecast.language.meaning.derived import sources_of
from wherecast.language.meaning.evaluate import Row, evaluate, row_value
from wherecast.language.meaning.expression import Distance, Expression, attributes_of, predicates
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.text.write import literal, shown_name, write

_MARKS = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Reason:
    """The verdict of one predicate of a filter on a publication.

    Attributes:
        predicate: the predicate, as a filter would write it.
        verdict: true, false, or None for unknown.
        seen: the values of the attributes that the predicate names; None for a missing one.
    """

    predicate: str
    verdict: bool | None
    seen: dict[str, Any]

    @property
    def mark(self) -> str:
        """The verdict as a word: true, false or unknown."""
        return _MARKS[self.verdict]

    @property
    def shown(self) -> str:
        """The values that the predicate was decided on, in words."""
        return ", ".join(
            f"{name} is missing" if value is None else f"{name} = {value}"
            for name, value in self.seen.items()
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a filter matches a publication or does not; `str` shows a line per predicate.

    Attributes:
        matched: whether the filter matches.
        reasons: the verdict of each predicate.
        sentence: one sentence that names the predicate that decides.
        plan: how an index would serve the filter; the same for all publications.
    """

    matched: bool
    reasons: tuple[Reason, ...]
    sentence: str
    plan: FilterPlan

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON has it: `matched`, `sentence`, `reasons` and `plan`.

        There is one reason per predicate. It has `predicate`, `verdict` (true, false, or None for
        unknown) and `seen`, the values of the attributes that the predicate names (None for a
        missing one).
        """
        return {
            "matched": self.matched,
            "sentence": self.sentence,
            "reasons": [
                {"predicate": reason.predicate, "verdict": reason.verdict, "seen": reason.seen}
                for reason in self.reasons
            ],
            "plan": self.plan.to_dict(),
        }

    def __bool__(self) -> bool:
        return self.matched

    def __str__(self) -> str:
        width = max((len(reason.predicate) for reason in self.reasons), default=0)
        lines = [
            f"{reason.mark:<8} {reason.predicate:<{width}}   {reason.shown}".rstrip()
            for reason in self.reasons
        ]
        return "\n".join([*lines, self.sentence])


def explain(expression: Expression, row: Row, plan: FilterPlan) -> Explanation:
    """The explanation of an expression's verdict on a canonical row."""
    verdict = evaluate(expression, row)
    reasons = tuple(
        Reason(write(leaf), evaluate(leaf, row), _seen(leaf, row))
        for leaf in predicates(expression)
    )
    return Explanation(verdict is True, reasons, _sentence(verdict, reasons), plan)


def _seen(leaf: Any, row: Row) -> dict[str, Any]:
    """The values that a predicate is decided on, as a filter would write them."""
    found: dict[str, Any] = {}
    for attribute in sources_of(attributes_of(leaf)):
        value = row.get(attribute.name)
        found[shown_name(attribute)] = None if value is None else literal(attribute, value)
    if isinstance(leaf, Distance):
        latitude, longitude = row_value(leaf.latitude, row), row_value(leaf.longitude, row)
        if latitude is not None and longitude is not None:
            metres = haversine_metres(latitude, longitude, leaf.point)
            found["distance"] = f"{metres:.1f} m"
    return found


def _sentence(verdict: bool | None, reasons: tuple[Reason, ...]) -> str:
    if verdict:
        return "It matches."
    blame = [reason for reason in reasons if reason.verdict is not True]
    decisive = next((r for r in blame if r.verdict is (False if verdict is False else None)), None)
    decisive = decisive or (blame[0] if blame else None)
    if decisive is None:  # every predicate holds, so a NOT around one of them turned the verdict
        return "It does not match: what holds is excluded by a NOT."
    why = f"{decisive.predicate} is {decisive.mark}"
    others = len(blame) - 1
    more = "" if not others else f", and {others} more {'is' if others == 1 else 'are'} not true"
    seen = f" ({decisive.shown})" if decisive.shown else ""
    if verdict is None:
        return f"It does not match, since it is unknown whether it holds: {why}{seen}{more}."
    return f"It does not match: {why}{seen}{more}."
