"""The steps of a filter as an expression: names found in the schema, types checked, constants read.

A stack holds what the steps before have left: names, literals, formulas and conditions. What a name
or a literal means depends on its neighbour, so both wait until an operator takes them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from wherecast.language.meaning.bind_operands import Item, Listed, Metres, Name, Operand
from wherecast.language.meaning.bind_predicates import PredicateBinder
from wherecast.language.meaning.constants import Word
from wherecast.language.meaning.expression import And, Expression, Or
from wherecast.language.meaning.formula import NOW, Field, Formula, formula_of
from wherecast.language.meaning.functions.table import CALLABLE, NAMES
from wherecast.language.meaning.functions.texts import TEXTS
from wherecast.language.meaning.functions.times import UNITS
from wherecast.language.meaning.value_types import TypeProblem
from wherecast.language.text.steps import Interval, Step, operands_of
from wherecast.language.text.syntax_errors import OTHERS_MAX
from wherecast.model import Attribute, FilterError
from wherecast.model.names import did_you_mean, nearest
from wherecast.model.values import Type

_OVERLAP = "arrays_overlap"
_TAKE_CONSTANTS = ("compare", "in", "between", "pattern")
_NOW_NAMES = ("now", "current_timestamp")
_PATTERNS = ("prefix", "suffix", "contains", "rlike")
_SHOWN = "abs, coalesce, contains, ends_with, geo_distance, hour, length, lower, round, starts_with"


class Binder(PredicateBinder):
    """Turns the steps of one filter into an expression."""

    _reads_formulas = False
    _has_lists = False  # that a step may take

    def bind(self, steps: Sequence[Step]) -> Expression:
        """The expression of a filter.

        Raises:
            FilterError: it says something that is not in the language, with its place.
        """
        return self.condition(self._bound(steps))

    def bind_attribute(self, steps: Sequence[Step]) -> Attribute:
        """The attribute, perhaps a derived one, that steps compute.

        Beside what a filter may write it reads the difference of two times.
        """
        self._reads_formulas = True
        only = self._bound(steps)
        return self.attribute(Item(self.formula(only), only.position))

    def _bound(self, steps: Sequence[Step]) -> Item:
        """What all steps leave.

        What takes a refused operand is refused with it; its neighbours are bound all the same, so
        that the problems of a filter are told together.
        """
        stack: list[Item | None] = []
        problems: list[FilterError] = []
        for step in steps:
            count = operands_of(step)
            items = [item for item in stack[len(stack) - count :] if item is not None]
            del stack[len(stack) - count :]
            if len(items) < count:
                stack.append(None)
                continue
            try:
                stack.append(self._bound_step(step, items))
            except FilterError as error:
                problems.append(error)
                stack.append(None)
                if len(problems) > OTHERS_MAX:
                    break
        if problems:
            problems[0].others = tuple(problems[1:])
            raise problems[0]
        [only] = stack
        assert only is not None
        return self._settled(only)

    def _bound_step(self, step: Step, items: list[Item]) -> Item:
        """What a step leaves of its operands.

        Raises:
            FilterError: it is refused, with its place.
        """
        if self._has_lists and step.argument != (_OVERLAP, 2):
            items = list(map(self._settled, items))
        position = min([step.position, *(item.position for item in items)])
        try:
            operand = _HANDLERS[step.code](self, step, items)
        except TypeProblem as problem:
            raise FilterError(str(problem), step.position, code="wrong_type") from None
        except FilterError as error:
            if error.position is None:
                error.position = step.position
            if error.code == "unknown_attribute" and step.code in _TAKE_CONSTANTS:
                error.hint = self._quotes_hint(error, items) or error.hint
            raise
        return Item(operand, position)

    def _settled(self, item: Item) -> Item:
        """An operand, with an array that nothing asks for elements as a formula."""
        is_listed = isinstance(item.operand, Listed)
        return Item(self.formula(item), item.position) if is_listed else item

    def _operand(self, step: Step, items: list[Item]) -> Operand:
        return Name(step.argument) if step.code == "name" else step.argument

    def _negate(self, step: Step, items: list[Item]) -> Operand:
        inner = items[0].operand
        if isinstance(inner, Word) and inner.kind == "number":
            return inner._replace(negative=not inner.negative)
        if isinstance(inner, Interval):
            return Interval(-inner.months, -inner.micros)
        return self.called("negative", items)

    def _plus(self, step: Step, items: list[Item]) -> Operand:
        [item] = items
        if not isinstance(item.operand, Word | Interval) and not self.formula(item).type.is_number:
            raise TypeProblem("a sign stands before a number")
        return item.operand

    def _binary(self, step: Step, items: list[Item]) -> Operand:
        left, right = items
        if step.argument == "||":
            return self.called("concat", items)
        if step.argument in "+-" and isinstance(right.operand, Interval):
            return self.called("later" if step.argument == "+" else "earlier", items)
        if step.argument == "+" and isinstance(left.operand, Interval):
            return self.called("later", [right, left])
        if step.argument == "-" and self._reads_formulas:
            types = [self.formula(item).type for item in items]
            if all(type_.is_time for type_ in types):
                return self.called("elapsed", items)
        return self.called(step.argument, items)

    def _and(self, step: Step, items: list[Item]) -> Expression:
        return And(tuple(part for one in map(self.condition, items) for part in _parts(one, And)))

    def _or(self, step: Step, items: list[Item]) -> Expression:
        return Or(tuple(part for one in map(self.condition, items) for part in _parts(one, Or)))

    def _not(self, step: Step, items: list[Item]) -> Expression:
        return self.negated(self.condition(items[0]))

    def _cast(self, step: Step, items: list[Item]) -> Operand:
        message = "casts and the type letters of numbers, other than L, D and BD, are"
        raise FilterError(f"{message} not in the language", step.position)

    def _index(self, step: Step, items: list[Item]) -> Operand:
        return self.called("element", items)

    def _call(self, step: Step, items: list[Item]) -> Operand:
        written, _ = step.argument
        name = NAMES.get(written, written)
        if name in _NOW_NAMES and not items:
            return formula_of(Field(NOW))
        if name == "if" and len(items) == 3:
            when = Item(
                self.formula(Item(self.condition(items[0]), items[0].position)), items[0].position
            )
            return self.called("case", [when, *items[1:]])
        if name == "geo_distance":
            return self._geo_distance(step, items)
        if name in _PATTERNS and len(items) == 2:
            return self.pattern(name, items)
        if written not in CALLABLE:
            hint = did_you_mean(written, sorted(CALLABLE)) or f"there are {_SHOWN} and others"
            message = f"the function {written} is not in the language"
            raise FilterError(message, step.position, hint)
        if name == "array" and items:
            self._has_lists = True
            return Listed(tuple(items))
        if name in ("array_contains", _OVERLAP) and len(items) == 2:
            return self._element_test(name, items)
        if name == "date_trunc" and items:
            self._check_unit(items[0])
        return self.called(name, items)

    def _element_test(self, name: str, items: list[Item]) -> Operand:
        """Elements among constants as a predicate, and anything else as a formula."""
        left, right = items
        found = None
        if name != _OVERLAP:
            found = self.element_test(left, [right])
        elif isinstance(right.operand, Listed):
            found = self.element_test(left, right.operand.items)
        elif isinstance(left.operand, Listed):
            found = self.element_test(right, left.operand.items)
        return self.called(name, items) if found is None else found

    def _check_unit(self, item: Item) -> None:
        unit = item.operand
        if not isinstance(unit, Word) or unit.kind != "string" or unit.text.lower() not in UNITS:
            hint = f"units are {', '.join(dict.fromkeys(UNITS.values()))}"
            raise FilterError("date_trunc needs a unit such as 'hour'", item.position, hint)

    def _geo_distance(self, step: Step, items: list[Item]) -> Operand:
        """`geo_distance(lat, lon, 45.8, 15.9)`, to be compared with metres."""
        hint = "geo_distance(lat, lon, 45.8, 15.9) < 500"
        if len(items) != 4:
            message = "geo_distance takes two attributes and two numbers, compared with metres"
            raise FilterError(message, step.position, hint)
        places, point = items[:2], [item.operand for item in items[2:]]
        for item in places:
            self.number_argument(item)
        names = [item.operand for item in places if isinstance(item.operand, Name)]
        words = [one for one in point if isinstance(one, Word) and one.kind == "number"]
        if len(names) == 2 and len(words) == 2:
            latitude, longitude = (self.attribute(item, "float") for item in places)
            return Metres(latitude, longitude, (words[0], words[1]))
        if any(isinstance(one, Word) for one in point) and len(words) < 2:
            raise FilterError("the point of geo_distance is two numbers", items[2].position)
        return self.called("geo_distance", items)

    def _case(self, step: Step, items: list[Item]) -> Operand:
        branches, has_else, has_subject = step.argument
        subject, rest = (items[0], items[1:]) if has_subject else (None, items)
        parts: list[Item] = []
        for branch in range(branches):
            when, then = rest[2 * branch : 2 * branch + 2]
            condition = (
                self.condition(when) if subject is None else self.compare("=", [subject, when])
            )
            parts += [self._case_condition(condition, when), then]
        return self.called("case", parts + rest[len(rest) - has_else :])

    def _case_condition(self, condition: Expression, item: Item) -> Item:
        """A condition as an operand of CASE."""
        return Item(self.formula(Item(condition, item.position)), item.position)

    def called(self, name: str, items: list[Item]) -> Formula:
        """A function of operands as a formula."""
        undeclared: Type = "string" if name in TEXTS or name in _PATTERNS else "float"
        return self.call_of(name, items, undeclared)

    def _quotes_hint(self, error: FilterError, items: list[Item]) -> str | None:
        """The hint to quote a word that stands where a constant does, if an unknown name is one."""
        subject = items[0].operand
        if not isinstance(subject, Name):
            return None
        for item in items[1:]:
            if isinstance(item.operand, Name) and item.position == error.position:
                word = item.operand.dotted
                attribute = self._schema.find(subject.dotted)
                listed = attribute.values if attribute is not None else None
                value = nearest(word, listed or ()) or (None if error.hint else word)
                return value and "write '" + value.replace("'", "''") + "' for a string"
        return None


def _parts(expression: Expression, kind: type) -> tuple[Expression, ...]:
    """The parts of a run of ANDs or ORs; any other expression is its own part."""
    return expression.parts if isinstance(expression, And | Or) and isinstance(
        expression, kind
    ) else (expression,)  # fmt: skip


_HANDLERS: dict[str, Callable[[Binder, Step, list[Item]], Any]] = {
    "name": Binder._operand,
    "literal": Binder._operand,
    "interval": Binder._operand,
    "negate": Binder._negate,
    "plus": Binder._plus,
    "binary": Binder._binary,
    "compare": lambda binder, step, items: binder.compare(step.argument, items),
    "and": Binder._and,
    "or": Binder._or,
    "not": Binder._not,
    "in": lambda binder, step, items: binder.member(step.argument[0], items),
    "between": lambda binder, step, items: binder.between(step.argument, items),
    "pattern": lambda binder, step, items: binder.pattern(
        step.argument[0], items, step.argument[1]
    ),
    "is": lambda binder, step, items: binder.is_test(step.argument[0], step.argument[1], items[0]),
    "distinct": lambda binder, step, items: binder.distinct(step.argument, items),
    "call": Binder._call,
    "case": Binder._case,
    "cast": Binder._cast,
    "index": Binder._index,
}
