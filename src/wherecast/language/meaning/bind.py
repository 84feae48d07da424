"""A sqlglot tree as an expression: names found in the schema, types checked, constants read."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from wherecast.language.meaning.constants import ReadConstant, Word, check_text, read_constant
from wherecast.language.meaning.expression import (
    FLIPPED,
    And,
    Between,
    Compared,
    Comparison,
    Distance,
    Expression,
    Fold,
    Member,
    Missing,
    Not,
    Operator,
    Or,
    Pattern,
    PatternKind,
    Truth,
)
from wherecast.language.meaning.geo import on_earth
from wherecast.language.meaning.patterns import check_pattern
from wherecast.language.meaning.resolve import resolve
from wherecast.language.text.syntax_nodes import bare, name_of, position_of, word_of
from wherecast.language.text.unsupported import check_arguments, needed_word, refuse
from wherecast.model import Attribute, FilterError, Limits, Schema, Type

_OPERATORS: dict[type, Operator] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_PARTS: dict[type, PatternKind] = {
    exp.StartsWith: "prefix",
    exp.EndsWith: "suffix",
    exp.Contains: "contains",
}
_UNDECLARED: dict[str, Type] = {"number": "float", "string": "string", "bool": "bool"}


class Binder:
    """Turns one tree into an expression; `constant` reads the constants beside attributes."""

    def __init__(
        self, schema: Schema, limits: Limits, constant: ReadConstant = read_constant
    ) -> None:
        self._schema = schema
        self._limits = limits
        self._constant = constant

    def bind(self, tree: exp.Expression) -> Expression:
        """The expression of a tree.

        Raises:
            FilterError: it says something that is not in the language, with its place.
        """
        if isinstance(tree, exp.And | exp.Or):
            return self._chain(tree)
        if isinstance(tree, exp.Paren):
            return self.bind(tree.this)
        if isinstance(tree, exp.Not):
            return negated(self.bind(tree.this))
        handler = _HANDLERS.get(type(tree))
        if handler is None:
            refuse(tree)
        check_arguments(tree)
        try:
            return handler(self, tree)
        except FilterError as error:  # some of sqlglot's nodes have no place of their own
            if error.position is None:
                error.position = position_of(tree)
            raise

    def _chain(self, tree: exp.Expression) -> Expression:
        """A run of ANDs or ORs as one list, without recursion on its length."""
        kind = type(tree)
        parts: list[exp.Expression] = []
        while type(tree) is kind:
            parts.append(tree.expression)
            tree = tree.this
        bound = tuple(self.bind(part) for part in [tree, *reversed(parts)])
        return And(bound) if kind is exp.And else Or(bound)

    def attribute(self, tree: exp.Expression, type_: Type = "any") -> Attribute:
        """The attribute that a column names; `type_` is what an undeclared one would be."""
        dotted = name_of(tree)
        if dotted is None:
            refuse(tree)
        return resolve(self._schema, dotted, position_of(tree), type_)

    def _operand(self, tree: exp.Expression, word: Word | None) -> tuple[Attribute, Fold]:
        """The attribute of an operand and the case it is folded to."""
        fold: Fold = ""
        tree = bare(tree)
        if isinstance(tree, exp.Lower | exp.Upper):
            fold = "lower" if isinstance(tree, exp.Lower) else "upper"
            tree = tree.this
        type_ = "string" if fold else _UNDECLARED.get(word.kind if word else "string", "string")
        attribute = self.attribute(tree, type_)
        if fold and attribute.type != "string":
            raise FilterError(f"{fold} needs a string, {attribute.name} is {attribute.kind}",
                              position_of(tree), code="wrong_type")  # fmt: skip
        return attribute, fold

    def _comparison(self, tree: exp.Expression) -> Expression:
        operator = _OPERATORS[type(tree)]
        left, right = bare(tree.this), bare(tree.expression)
        if word_of(left) is not None and word_of(right) is None:
            left, right, operator = right, left, FLIPPED[operator]
        word = word_of(right)
        if isinstance(left, exp.Column) and word is None and name_of(right) is None:
            refuse(right)
        if isinstance(left, exp.Anonymous):
            return self._distance(left, operator, word, tree)
        if word is None:
            return self._compared(left, operator, right)
        if word_of(left) is not None:
            raise FilterError("a predicate must name an attribute", position_of(tree),
                              "write TRUE to match every publication")  # fmt: skip
        attribute, fold = self._operand(left, word)
        if word.kind == "null":
            return Truth(None)
        return Comparison(attribute, operator, self._constant(attribute, word), fold)

    def _compared(
        self, left: exp.Expression, operator: Operator, right: exp.Expression
    ) -> Expression:
        """Two attributes compared: both numbers, or both of one type."""
        first, second = self.attribute(left, "float"), self.attribute(right, "float")
        numbers = ("int", "float")
        if first.type != second.type and not (first.type in numbers and second.type in numbers):
            message = (
                f"{first.name} is {first.kind} and {second.name} is {second.kind}:"
                f" they cannot be compared"
            )
            raise FilterError(message, position_of(right), code="wrong_type")
        return Compared(first, operator, second)

    def _distance(
        self, call: exp.Expression, operator: Operator, word: Word | None, tree: exp.Expression
    ) -> Expression:
        """`geo_distance(lat, lon, 45.8, 15.9) < 500`."""
        if not isinstance(call, exp.Anonymous) or call.name.lower() != "geo_distance":
            refuse(call)
        if word is None or word.kind != "number" or len(call.expressions) != 4:
            message = "geo_distance takes two attributes and two numbers, compared with metres"
            hint = "geo_distance(lat, lon, 45.8, 15.9) < 500"
            raise FilterError(message, position_of(tree), hint)
        latitude, longitude = (self.attribute(part, "float") for part in call.expressions[:2])
        for attribute, part in ((latitude, call.expressions[0]), (longitude, call.expressions[1])):
            if attribute.kind not in ("int", "float"):
                message = f"geo_distance needs a number, {attribute.name} is {attribute.kind}"
                cast = "cast the column to double" if attribute.scale else None
                raise FilterError(message, position_of(part), cast, "wrong_type")
        free = Attribute("geo_distance", "float")
        words = [word_of(part) for part in call.expressions[2:]]
        if any(point is None or point.kind != "number" for point in words):
            raise FilterError("the point of geo_distance is two numbers", position_of(call))
        point: Any = tuple(self._constant(free, point) for point in words if point is not None)
        metres: Any = self._constant(free, word)
        if isinstance(point[0], float) and not on_earth(point):
            message = "a point is a latitude of -90 to 90 and a longitude of -180 to 180"
            raise FilterError(message, position_of(call.expressions[2]))
        return Distance(latitude, longitude, point, operator, metres)

    def _between(self, tree: exp.Expression) -> Expression:
        """An interval; with an attribute, a distance or NULL in it, two comparisons."""
        sides = (tree.args["low"], tree.args["high"])
        low, high = map(word_of, sides)
        plain = low is not None and high is not None and "null" not in (low.kind, high.kind)
        if not plain or word_of(tree.this) is not None or isinstance(tree.this, exp.Anonymous):
            least = exp.GTE(this=tree.this, expression=sides[0])
            most = exp.LTE(this=tree.this, expression=sides[1])
            return And((self._comparison(least), self._comparison(most)))
        assert low is not None
        assert high is not None
        attribute, fold = self._operand(tree.this, low)
        return Between(
            attribute, self._constant(attribute, low), self._constant(attribute, high), fold
        )

    def _member(self, tree: exp.Expression) -> Expression:
        listed = tree.expressions
        if tree.args.get("query") is not None:
            refuse(tree.args["query"])
        if not listed:
            raise FilterError("IN needs a list of constants", position_of(tree.this))
        if len(listed) > self._limits.in_values_max:
            message = f"IN exceeds the limit of {self._limits.in_values_max} values"
            raise FilterError(message, position_of(tree.this), code="limit")
        words = [needed_word(part, "IN") for part in listed]
        given = [word for word in words if word.kind != "null"]
        attribute, fold = self._operand(tree.this, given[0] if given else None)
        if not given:
            return Truth(None)
        values = tuple(self._constant(attribute, word) for word in given)
        return Member(attribute, values, has_null=len(given) < len(words), fold=fold)

    def _like(self, tree: exp.Expression, escape: str = "\\") -> Expression:
        kind: PatternKind = "ilike" if isinstance(tree, exp.ILike) else "like"
        word = word_of(tree.expression)
        attribute, fold = self._operand(tree.this, Word("string", ""))
        if word is not None and word.kind == "null":
            return Truth(None)
        text = self._text(attribute, word, kind.upper(), tree.expression)
        pattern = Pattern(attribute, kind, text, escape, fold=fold)
        if isinstance(text, str):  # otherwise a slot, checked when its constants are known
            check_pattern(pattern, self._limits, word.position if word else None)
        return negated(pattern) if tree.args.get("negate") else pattern

    def _escaped(self, tree: exp.Expression) -> Expression:
        word = word_of(tree.expression)
        if word is None or word.kind != "string" or len(word.text) != 1:
            raise FilterError("ESCAPE takes one character", position_of(tree.expression))
        if not isinstance(tree.this, exp.Like | exp.ILike):
            refuse(tree)
        return self._like(tree.this, word.text)

    def _part(self, tree: exp.Expression) -> Expression:
        word = word_of(tree.expression)
        attribute, fold = self._operand(tree.this, Word("string", ""))
        if word is not None and word.kind == "null":
            return Truth(None)
        kind = _PARTS[type(tree)]
        return Pattern(
            attribute, kind, self._text(attribute, word, kind, tree.expression), fold=fold
        )

    def _text(
        self, attribute: Attribute, word: Word | None, what: str, place: exp.Expression | None
    ) -> str:
        """The string constant of a pattern predicate on a string attribute."""
        if word is None and attribute.type == "string":
            raise FilterError(f"{what} needs a string constant", position_of(place))
        return check_text(attribute, word or Word("string", ""), what, self._constant)

    def _is(self, tree: exp.Expression) -> Expression:
        """IS NULL, IS TRUE and IS FALSE; IS NOT arrives as a NOT around it."""
        what = tree.expression
        if isinstance(what, exp.Null):
            return Missing(self.attribute(tree.this))
        if isinstance(what, exp.Boolean):
            attribute = self._boolean(tree.this)
            present = Missing(attribute, negated=True)
            return And((present, Comparison(attribute, "=", bool(what.this))))
        raise FilterError("IS takes NULL, TRUE or FALSE", position_of(what))

    def _boolean(self, tree: exp.Expression) -> Attribute:
        attribute = self.attribute(tree, "bool")
        if attribute.type != "bool":
            message = f"{attribute.name} is {attribute.kind}, which is not a condition by itself"
            raise FilterError(
                message, position_of(tree), "compare it with a constant", "wrong_type"
            )
        return attribute

    def _bare(self, tree: exp.Expression) -> Expression:
        return Comparison(self._boolean(tree), "=", True)

    def _truth(self, tree: exp.Expression) -> Expression:
        return Truth(None if isinstance(tree, exp.Null) else bool(tree.this))


_HANDLERS: dict[type, Callable[[Binder, Any], Expression]] = {
    **dict.fromkeys(_OPERATORS, Binder._comparison),
    **dict.fromkeys(_PARTS, Binder._part),
    exp.Between: Binder._between,
    exp.In: Binder._member,
    exp.Like: Binder._like,
    exp.ILike: Binder._like,
    exp.Escape: Binder._escaped,
    exp.Is: Binder._is,
    exp.Column: Binder._bare,
    exp.Dot: Binder._bare,
    exp.Boolean: Binder._truth,
    exp.Null: Binder._truth,
}


def negated(expression: Expression) -> Expression:
    """NOT of an expression, as the predicate's own NOT where it has one."""
    if isinstance(expression, Member | Pattern | Missing) and not expression.negated:
        return replace(expression, negated=True)
    return Not(expression)
