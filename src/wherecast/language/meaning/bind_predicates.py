"""Tests of a filter as predicates: comparisons, intervals, lists, patterns and NULL.

A test of one attribute and constants is a predicate on it. A test of a formula and constants is a
predicate on a derived attribute. Any other test is a formula that is true or false.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from wherecast.language.meaning.bind_operands import Item, Listed, Metres, Name, fixed_of, word_of
from wherecast.language.meaning.constants import ReadConstant, Word, check_text, read_constant
from wherecast.language.meaning.derived import derive
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.evaluate_formula import constant_value
from wherecast.language.meaning.expression import (
    FLIPPED,
    And,
    Between,
    Compared,
    Comparison,
    Distance,
    Expression,
    Member,
    Missing,
    Not,
    Or,
    Pattern,
    PatternKind,
    Truth,
)
from wherecast.language.meaning.formula import (
    NOW,
    Condition,
    Field,
    Fixed,
    Formula,
    call,
    formula_of,
)
from wherecast.language.meaning.functions.table import SHOWN
from wherecast.language.meaning.geo import on_earth
from wherecast.language.meaning.patterns import check_pattern
from wherecast.language.meaning.resolve import resolve
from wherecast.language.meaning.value_types import INTERVAL, ArgumentProblem
from wherecast.language.text.steps import Interval
from wherecast.model import Attribute, FilterError, Limits, Schema, Type

_UNDECLARED: dict[str, Type] = {"number": "float", "string": "string", "bool": "bool"}


_ELEMENT_KINDS = {"string": "string", "int": "number", "float": "number"}


NoteOperand = Callable[[Word | Expression], None]


def note_nothing(operand: Word | Expression) -> None:
    """Ignores an operand of a formula."""


class PredicateBinder:
    """Binds single tests.

    Args:
        schema: the schema of the filters.
        limits: the limits of a filter.
        constant: reads the constants beside attributes.
        note: is called with each constant and each condition that becomes an operand of a formula.
    """

    def __init__(
        self,
        schema: Schema,
        limits: Limits,
        constant: ReadConstant = read_constant,
        note: NoteOperand = note_nothing,
    ) -> None:
        self._schema = schema
        self._limits = limits
        self._constant = constant
        self._note = note

    def attribute(self, item: Item, undeclared: Type = "any") -> Attribute:
        """The attribute of an operand: one that it names, or one that its formula derives."""
        if isinstance(item.operand, Name):
            return _single(self._named(item, undeclared), item.position)
        formula = self.formula(item, undeclared)
        only = formula.steps[0]
        if len(formula.steps) == 1 and isinstance(only, Field) and only.attribute != NOW:
            return only.attribute
        derived = derive(formula)
        if derived is None:
            message = f"values of type {formula.type} cannot be compared with a constant"
            raise FilterError(message, item.position, code="wrong_type")
        return derived

    def _named(self, item: Item, undeclared: Type) -> Attribute:
        """The attribute, perhaps an array, that an operand names."""
        assert isinstance(item.operand, Name)
        return resolve(self._schema, item.operand.dotted, item.position, undeclared)

    def formula(self, item: Item, undeclared: Type = "float") -> Formula:
        """An operand as a formula."""
        match item.operand:
            case Formula() as formula:
                return formula
            case Word() as word:
                self._note(word)
                return formula_of(self.fixed(word))
            case Interval() as interval:
                return formula_of(Fixed(interval, INTERVAL))
            case Name():
                return formula_of(Field(self._named(item, undeclared)))
            case Metres() as place:
                return place.formula()
            case Listed(items):
                return self.call_of("array", list(items), "float")
            case _:
                self._note(item.operand)
                return formula_of(Condition(item.operand))

    def call_of(self, name: str, items: list[Item], undeclared: Type) -> Formula:
        """A function of operands as a formula."""
        try:
            return call(name, [self.formula(item, undeclared) for item in items])
        except ArgumentProblem as problem:
            message = f"{SHOWN.get(name, name)} {problem}"
            place = items[problem.place].position
            raise FilterError(message, place, code="wrong_type") from None

    def fixed(self, word: Word) -> Fixed:
        """The constant that a literal is by itself."""
        if word.suffix not in ("", "L", "D", "BD"):
            message = "casts and the type letters of numbers, other than L, D and BD, are"
            raise FilterError(f"{message} not in the language", word.position)
        return fixed_of(word)

    def condition(self, item: Item) -> Expression:
        """An operand as a condition.

        Raises:
            FilterError: it is none.
        """
        match item.operand:
            case Word(kind="bool") as word:
                return Truth(word.text == "true")
            case Word(kind="null"):
                return Truth(None)
            case Word():
                message, hint = "a constant is not a condition", "compare it with an attribute"
                raise FilterError(message, item.position, hint)
            case Metres():
                message = "geo_distance is a number of metres, not a condition"
                hint = "compare it, as in geo_distance(lat, lon, 45.8, 15.9) < 500"
                raise FilterError(message, item.position, hint)
            case Interval():
                raise FilterError("an interval is not a condition", item.position)
            case Listed():
                raise FilterError("an array is not a condition", item.position)
            case Name() | Formula():
                return self._boolean(item)
            case _:
                return item.operand

    def _boolean(self, item: Item) -> Expression:
        if isinstance(item.operand, Formula) and item.operand.is_constant:
            return self._truth(item.operand, item)
        attribute = self.attribute(item, "bool")
        if attribute.type != "bool":
            message = f"{attribute.name} is {attribute.kind}, which is not a condition by itself"
            hint = "compare it with a constant"
            raise FilterError(message, item.position, hint, "wrong_type")
        return Comparison(attribute, "=", True)

    def _truth(self, formula: Formula, item: Item) -> Truth:
        if formula.type.kind not in ("bool", "null"):
            raise FilterError("a constant is not a condition", item.position)
        return Truth(constant_value(formula))

    def _constant_word(self, item: Item) -> Word | None:
        """The literal that an operand amounts to, where it is constant."""
        operand = item.operand
        if isinstance(operand, Word):
            return operand
        if isinstance(operand, Truth):
            return word_of(Fixed(operand.value, formula_of(Condition(operand)).type), item.position)
        if isinstance(operand, Formula) and operand.is_constant:
            return word_of(Fixed(constant_value(operand), operand.type), item.position)
        return None

    def compare(self, operator: Any, items: list[Item]) -> Expression:
        """A comparison of two operands."""
        left, right = items
        if operator == "<=>":
            return self.distinct(True, items)
        word, other = self._constant_word(right), self._constant_word(left)
        if word is None and other is not None:
            left, right, word, other, operator = right, left, other, None, FLIPPED[operator]
        if word is None or other is not None:
            return self._compare_formulas(operator, left, right)
        if isinstance(left.operand, Metres):
            return self._distance(left.operand, operator, word, left)
        if word.kind == "null":
            self._known(left)
            return Truth(None)
        if word.kind == "bool" and operator in ("=", "<>") and isinstance(left.operand, Expression):
            is_same = (word.text == "true") == (operator == "=")
            return left.operand if is_same else self.negated(left.operand)
        attribute = self._tested(left, word)
        if attribute is None:
            return self._compare_formulas(operator, left, right)
        return Comparison(attribute, operator, self.constant(attribute, word))

    def _known(self, item: Item) -> None:
        """Checks the names of an operand that is compared with NULL."""
        if isinstance(item.operand, Name):
            self.attribute(item, "string")

    def _tested(self, item: Item, word: Word) -> Attribute | None:
        """The attribute that is compared with a constant; None where only a formula can do it."""
        undeclared = _UNDECLARED.get(word.kind, "string")
        if not isinstance(item.operand, Name):
            formula = self.formula(item, undeclared)
            if len(formula.steps) > 1 and derive(formula) is None:
                return None
        return self.attribute(item, undeclared)

    def constant(self, attribute: Attribute, word: Word) -> Any:
        """The constant beside an attribute."""
        if word.suffix not in ("", "L", "D", "BD"):
            self.fixed(word)
        return self._constant(attribute, word)

    def _compare_formulas(self, operator: Any, left: Item, right: Item) -> Expression:
        """Two operands of which none is a constant, or both are."""
        formulas = [self.formula(left, "float"), self.formula(right, "float")]
        since = _since_now(operator, *formulas)
        if since is not None:
            return since
        fields = [one.steps[0] for one in formulas if len(one.steps) == 1]
        if len(fields) == 2 and all(isinstance(one, Field) for one in fields):
            first, second = (one.attribute for one in fields if isinstance(one, Field))
            if NOW not in (first, second):
                return _compared(first, operator, second, right.position)
        return self._test(call(operator, formulas), left)

    def _test(self, formula: Formula, item: Item) -> Expression:
        """A formula that is true or false as a predicate."""
        if formula.is_constant:
            return Truth(constant_value(formula))
        derived = derive(formula)
        assert derived is not None
        return Comparison(derived, "=", True)

    def _distance(self, place: Metres, operator: Any, word: Word, item: Item) -> Expression:
        """`geo_distance(lat, lon, 45.8, 15.9) < 500`."""
        if word.kind != "number":
            message = "geo_distance takes two attributes and two numbers, compared with metres"
            hint = "geo_distance(lat, lon, 45.8, 15.9) < 500"
            raise FilterError(message, item.position, hint)
        free = Attribute("geo_distance", "float")
        point: Any = tuple(self.constant(free, one) for one in place.point)
        if isinstance(point[0], float) and not on_earth(point):
            message = "a point is a latitude of -90 to 90 and a longitude of -180 to 180"
            raise FilterError(message, place.point[0].position)
        metres: Any = self.constant(free, word)
        return Distance(place.latitude, place.longitude, point, operator, metres)

    def number_argument(self, item: Item) -> None:
        """Refuses an argument of geo_distance that is no number."""
        if isinstance(item.operand, Name):
            attribute = self.attribute(item, "float")
            if attribute.kind not in ("int", "float"):
                message = f"geo_distance needs a number, {attribute.name} is {attribute.kind}"
                hint = "cast the column to double" if attribute.scale else None
                raise FilterError(message, item.position, hint, "wrong_type")

    def between(self, is_negated: bool, items: list[Item]) -> Expression:
        """An interval; with NULL or anything that is no constant in it, two comparisons."""
        subject, *sides = items
        low, high = map(self._constant_word, sides)
        is_plain = low is not None and high is not None and "null" not in (low.kind, high.kind)
        is_fixed = isinstance(subject.operand, Metres) or self._constant_word(subject) is not None
        attribute = None
        if is_plain and not is_fixed and low is not None:
            attribute = self._tested(subject, low)
        if attribute is None or low is None or high is None:
            least = self.compare(">=", [subject, sides[0]])
            found: Expression = And((least, self.compare("<=", [subject, sides[1]])))
        else:
            ends = self.constant(attribute, low), self.constant(attribute, high)
            found = Between(attribute, *ends)
        return self.negated(found) if is_negated else found

    def member(self, is_negated: bool, items: list[Item]) -> Expression:
        """A list of constants; with anything else in it, a comparison for each."""
        subject, *listed = items
        words = [self._constant_word(item) for item in listed]
        given = [word for word in words if word is not None and word.kind != "null"]
        attribute = None
        if None not in words and self._constant_word(subject) is None:
            if not given:
                self._known(subject)
                return Truth(None)
            if not isinstance(subject.operand, Metres):
                attribute = self._tested(subject, given[0])
        if attribute is None:
            parts = tuple(self.compare("=", [subject, item]) for item in listed)
            found: Expression = Or(parts) if len(parts) > 1 else parts[0]
            return self.negated(found) if is_negated else found
        values = tuple(self.constant(attribute, word) for word in given)
        return Member(attribute, values, is_negated, has_null=len(given) < len(words))

    def element_test(self, subject: Item, listed: Sequence[Item]) -> Expression | None:
        """That some element of an array is one of the listed; None where a formula must say it."""
        if not isinstance(subject.operand, Name):
            return None
        array = self._named(subject, "any")
        words = [one.operand for one in listed if isinstance(one.operand, Word)]
        kind = _ELEMENT_KINDS.get(array.element or "")
        if len(words) < len(listed) or any(word.kind != kind for word in words):
            return None
        element = Element.of(array)
        return Member(element, tuple(self.constant(element, word) for word in words))

    def pattern(self, kind: PatternKind, items: list[Item], is_negated: bool = False) -> Expression:
        """A string against a pattern, a prefix, a suffix or a part."""
        subject, given, *escapes = items
        escape = self._escape(escapes)
        word = self._constant_word(given)
        what = kind.upper() if kind in ("like", "ilike", "rlike") else kind
        if word is None or self._constant_word(subject) is not None:
            return self._pattern_formula(kind, items, is_negated)
        attribute = self.attribute(subject, "string")
        if word.kind == "null":
            return Truth(None)
        text = check_text(attribute, word, what, self.constant)
        pattern = Pattern(attribute, kind, text, escape)
        if isinstance(text, str):  # otherwise a slot, checked when its constants are known
            check_pattern(pattern, self._limits, word.position)
        return self.negated(pattern) if is_negated else pattern

    def _escape(self, escapes: list[Item]) -> str:
        if not escapes:
            return "\\"
        word = escapes[0].operand
        if not isinstance(word, Word) or word.kind != "string" or len(word.text) != 1:
            raise FilterError("ESCAPE takes one character", escapes[0].position)
        return word.text

    def _pattern_formula(self, kind: str, items: list[Item], is_negated: bool) -> Expression:
        found = self._test(self.call_of(kind, items, "string"), items[0])
        return self.negated(found) if is_negated else found

    def is_test(self, what: str, is_negated: bool, item: Item) -> Expression:
        """IS [NOT] NULL, TRUE, FALSE and UNKNOWN."""
        word = self._constant_word(item)
        if what in ("null", "unknown"):
            if word is not None:
                return Truth((word.kind == "null") != is_negated)
            return Missing(self._presence(item), is_negated)
        condition = self.condition(item)
        if isinstance(condition, Truth):
            return Truth((condition.value is (what == "true")) != is_negated)
        if isinstance(condition, Comparison) and condition == Comparison(
            condition.attribute, "=", True
        ):
            attribute = condition.attribute
            wanted: Expression = Comparison(attribute, "=", what == "true")
        else:
            attribute = self.attribute(Item(condition, item.position))
            wanted = condition if what == "true" else self.negated(condition)
        parts = wanted.parts if isinstance(wanted, And) else (wanted,)
        found = And((Missing(attribute, negated=True), *parts))
        return Not(found) if is_negated else found

    def _presence(self, item: Item) -> Attribute:
        """The attribute whose presence is asked.

        An array is there where its size is, and a decimal too wide for an attribute where a
        comparison of it with itself is.
        """
        if isinstance(item.operand, Name) and self._named(item, "any").element is not None:
            item = Item(call("size", [self.formula(item)]), item.position)
        elif isinstance(item.operand, Formula):
            formula = item.operand
            if formula.type.kind == "array":
                item = Item(call("size", [formula]), item.position)
            elif formula.type.kind == "decimal" and derive(formula) is None:
                item = Item(call("=", [formula, formula]), item.position)
        return self.attribute(item, "any" if isinstance(item.operand, Name) else "float")

    def distinct(self, is_negated: bool, items: list[Item]) -> Expression:
        """IS [NOT] DISTINCT FROM, which is never unknown."""
        left, right = items
        for one, other in ((left, right), (right, left)):
            word = self._constant_word(one)
            if word is not None and word.kind == "null":
                same = self.is_test("null", False, other)
                break
        else:
            there = [self.is_test("null", True, item) for item in items]
            missing = [self.is_test("null", False, item) for item in items]
            same = Or((And((*there, self.compare("=", items))), And(tuple(missing))))
        return same if is_negated else self.negated(same)

    @staticmethod
    def negated(expression: Expression) -> Expression:
        """NOT of an expression, as the predicate's own NOT where it has one."""
        if isinstance(expression, Member | Pattern | Missing) and not expression.negated:
            return replace(expression, negated=True)
        return Not(expression)


def _single(attribute: Attribute, position: int) -> Attribute:
    """The attribute, unless it is an array, which nothing can be compared with."""
    if attribute.element is not None:
        message = f"{attribute.name} is {attribute.kind}, which cannot be compared as a whole"
        hint = f"ask for its elements, as in array_contains({attribute.name}, …)"
        raise FilterError(message, position, hint, "wrong_type")
    return attribute


def _compared(first: Attribute, operator: Any, second: Attribute, position: int) -> Expression:
    """Two attributes compared: both numbers, or both of one type."""
    numbers = ("int", "float")
    if first.type != second.type and not (first.type in numbers and second.type in numbers):
        message = (
            f"{first.name} is {first.kind} and {second.name} is {second.kind}:"
            f" they cannot be compared"
        )
        raise FilterError(message, position, code="wrong_type")
    return Compared(first, operator, second)


def _since_now(operator: Any, left: Formula, right: Formula) -> Expression | None:
    """`time > now() - interval` as the microseconds since now, compared with a constant."""
    offset, other = _offset_from_now(right), left
    if offset is None:
        offset, other, operator = _offset_from_now(left), right, FLIPPED[operator]
    if offset is None or not other.type.is_time or other.type.kind == "timestamp_ntz":
        return None
    derived = derive(call("elapsed", [other, formula_of(Field(NOW))]))
    assert derived is not None
    return Comparison(derived, operator, offset)


def _offset_from_now(formula: Formula) -> int | None:
    """The microseconds that a formula adds to now, where it is nothing else."""
    first, *rest = formula.steps
    if not isinstance(first, Field) or first.attribute != NOW:
        return None
    if not rest:
        return 0
    if len(rest) != 2 or not isinstance(rest[0], Fixed) or not isinstance(rest[0].value, Interval):
        return None
    sign = {"later": 1, "earlier": -1}[rest[1].name]  # type: ignore[union-attr]
    return None if rest[0].value.months else sign * rest[0].value.micros
