"""What a conjunction asks of one attribute: an interval, a value set or a pattern set.

Numbers, bools and times are constrained in key space (see `keys`), where every interval is
closed. Strings are constrained by half-open intervals `low <= value < high`: the string that
follows `s` is `s` and a NUL, so `> s` starts there and `<= s` ends there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from wherecast.language.meaning.expression import (
    Between,
    Comparison,
    Constant,
    Member,
    Missing,
    Pattern,
    Predicate,
)
from wherecast.language.meaning.keys import RANGES, bounds, value_of
from wherecast.language.meaning.patterns import pattern_verdict, plain_form
from wherecast.language.text.write import literal, write
from wherecast.model import Attribute, Type

Key = int | str


class Conflict(Exception):
    """Predicates that exclude each other; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """The allowed values of one attribute.

    Attributes:
        attribute: whose values.
        presence: `missing` allows only a missing value; `present` any value that the rest allows.
        low: the least key, or for strings the least string; None where there is none.
        high: the greatest key, or for strings the string before which values end; None likewise.
        values: the allowed keys or strings, sorted; then the interval and `excluded` say nothing.
        excluded: keys or strings inside the interval that are not allowed, sorted.
        patterns: predicates that a string must satisfy besides.
    """

    attribute: Attribute
    presence: Literal["present", "missing"] = "present"
    low: Key | None = None
    high: Key | None = None
    values: tuple[Key, ...] | None = None
    excluded: tuple[Key, ...] = ()
    patterns: tuple[Pattern, ...] = ()

    @property
    def is_bounded(self) -> bool:
        """Whether it has an interval that is narrower than its type."""
        return self.low is not None or self.high is not None


def constrain(attribute: Attribute, leaves: Sequence[Predicate]) -> Constraint:
    """The intersection of predicates on one attribute.

    Raises:
        Conflict: no value satisfies all of them.
    """
    if any(isinstance(leaf, Missing) and not leaf.negated for leaf in leaves):
        others = [leaf for leaf in leaves if not isinstance(leaf, Missing) or leaf.negated]
        if others:
            raise _conflict(leaves)
        return Constraint(attribute, "missing")
    found = Constraint(attribute)
    for leaf in leaves:
        found = _narrowed(found, leaf, leaves)
    return _settled(found, leaves)


def intersect(left: Constraint, right: Constraint) -> Constraint | None:
    """What both constraints allow, or None where that is surely nothing."""
    if left.presence != right.presence:
        return None
    if left.presence == "missing":
        return left
    values = left.values
    if right.values is not None:
        values = right.values if values is None else tuple(v for v in values if v in right.values)
    both = replace(
        left,
        low=_greatest(left.low, right.low),
        high=_least(left.high, right.high),
        values=values,
        excluded=tuple(sorted({*left.excluded, *right.excluded})),
        patterns=tuple(dict.fromkeys(left.patterns + right.patterns)),
    )
    try:
        return _settled(both, ())
    except Conflict:
        return None


def allows(constraint: Constraint, key: Key) -> bool:
    """Whether a present value, given as a key or string, is allowed."""
    if constraint.presence == "missing":
        return False
    if constraint.values is not None:
        return key in constraint.values
    if constraint.low is not None and key < constraint.low:  # type: ignore[operator]
        return False
    if constraint.high is not None and not _below(key, constraint.high):
        return False
    if key in constraint.excluded:
        return False
    return not isinstance(key, str) or all(
        pattern_verdict(pattern, key) is True for pattern in constraint.patterns
    )


def _below(key: Key, high: Key) -> bool:
    """Whether a key is inside an upper end: closed for keys, open for strings."""
    return key < high if isinstance(key, str) else key <= high  # type: ignore[operator]


def _greatest(left: Key | None, right: Key | None) -> Key | None:
    return right if left is None else left if right is None else max(left, right)


def _least(left: Key | None, right: Key | None) -> Key | None:
    return right if left is None else left if right is None else min(left, right)


def _narrowed(found: Constraint, leaf: Predicate, leaves: Sequence[Predicate]) -> Constraint:
    """The constraint with one more predicate."""
    match leaf:
        case Missing():
            return found
        case Member(has_null=True, negated=True):
            raise Conflict("NOT IN with NULL in the list is never true")
        case Comparison() | Between() | Member():
            return _plain(found, leaf)
    settled = simplified(leaf)
    if isinstance(settled, Comparison):
        return _plain(found, settled)
    assert isinstance(settled, Pattern)
    return replace(found, patterns=(*found.patterns, settled))


def simplified(leaf: Predicate) -> Predicate:
    """The plainest predicate of the same meaning: `LIKE 'ab%'` is a prefix, `LIKE 'ab'` is `=`."""
    match leaf:
        case Pattern(attribute, "like", text, escape, False):
            simple = plain_form(text, escape)
            if simple is not None:
                kind, plain = simple
                return (
                    Comparison(attribute, "=", plain)
                    if kind is None
                    else Pattern(attribute, kind, plain)
                )
    return leaf


def _plain(found: Constraint, leaf: Comparison | Between | Member) -> Constraint:
    """The constraint with one more comparison, interval or value set."""
    type_ = found.attribute.type
    if isinstance(leaf, Member):
        keys = {key for value in leaf.values if (key := exact_key(type_, value)) is not None}
        if leaf.negated:
            return replace(found, excluded=(*found.excluded, *keys))
        return replace(found, values=_both(found.values, keys))
    if isinstance(leaf, Comparison) and leaf.operator == "<>":
        key = exact_key(type_, leaf.value)
        return found if key is None else replace(found, excluded=(*found.excluded, key))
    if isinstance(leaf, Comparison) and leaf.operator == "=" and type_ == "string":
        assert isinstance(leaf.value, str)
        return replace(found, values=_both(found.values, {leaf.value}))
    if isinstance(leaf, Between):
        sides = [interval(type_, ">=", leaf.low), interval(type_, "<=", leaf.high)]
    else:
        sides = [interval(type_, leaf.operator, leaf.value)]
    for low, high in sides:
        found = replace(found, low=_greatest(found.low, low), high=_least(found.high, high))
    return found


def _both(values: tuple[Key, ...] | None, keys: set[Any]) -> tuple[Key, ...]:
    return tuple(sorted(keys if values is None else keys & set(values)))


def interval(type_: Type, operator: str, value: Constant) -> tuple[Key | None, Key | None]:
    """The ends of what a comparison allows; None where that end is the type's own."""
    if isinstance(value, str):
        after = value + "\0"
        return {
            "<": (None, value),
            "<=": (None, after),
            ">": (after, None),
            ">=": (value, None),
        }[operator]
    return _own_ends(type_, *bounds(type_, operator, value))


def _own_ends(type_: Type, low: int, high: int) -> tuple[int | None, int | None]:
    """The ends of an interval of keys, None where they are the type's own.

    An empty interval keeps both, so that it shows.
    """
    if low > high:
        return low, high
    least, most = RANGES[type_]
    return (None if low == least else low), (None if high == most else high)


def exact_key(type_: Type, value: Constant) -> Key | None:
    """The key that equals a constant, or None where no value of the type does."""
    if isinstance(value, str):
        return value
    low, high = bounds(type_, "=", value)
    return low if low == high else None


def _settled(found: Constraint, leaves: Sequence[Predicate]) -> Constraint:
    """The constraint in its one form: a value set alone, or an interval with what it excludes.

    Raises:
        Conflict: it allows nothing.
    """
    if found.values is not None:
        kept = [v for v in found.values if allows(replace(found, values=None), v)]
        return _of_values(found.attribute, kept, leaves)
    low, high = found.low, found.high
    if low is not None and high is not None and not _below(low, high):
        raise _conflict(leaves)
    inside = replace(found, excluded=(), patterns=())
    excluded = tuple(sorted({key for key in found.excluded if allows(inside, key)}))
    if isinstance(low, int) and low == high and excluded:
        raise _conflict(leaves)
    if found.attribute.type == "bool":
        ends = (0 if low is None else low, 1 if high is None else high)
        kept = [key for key in (0, 1) if ends[0] <= key <= ends[1] and key not in excluded]  # type: ignore[operator]
        return _of_values(found.attribute, kept, leaves)
    patterns = tuple(dict.fromkeys(found.patterns))
    return replace(found, excluded=excluded, patterns=patterns)


def _of_values(attribute: Attribute, kept: list[Any], leaves: Sequence[Predicate]) -> Constraint:
    """A value set; a single key is the interval of that key, and both bools are no constraint."""
    if not kept:
        raise _conflict(leaves)
    if attribute.type == "bool" and len(kept) == 2:
        return Constraint(attribute)
    if len(kept) == 1 and attribute.type != "string":
        low, high = _own_ends(attribute.type, kept[0], kept[0])
        return Constraint(attribute, low=low, high=high)
    return Constraint(attribute, values=tuple(sorted(kept)))


def _conflict(leaves: Sequence[Predicate]) -> Conflict:
    shown = " and ".join(write(leaf) for leaf in leaves)
    if len(leaves) == 1 and isinstance(leaves[0], Between):
        return Conflict(f"{shown} has its bounds the wrong way round")
    if len(leaves) == 1:
        return Conflict(f"no value satisfies {shown}")
    return Conflict(f"{shown} exclude each other")


def describe(constraint: Constraint) -> str:
    """The constraint in words, for people."""
    name = constraint.attribute.name
    if constraint.presence == "missing":
        return f"{name} is missing"

    def show(key: Key) -> str:
        value = key if isinstance(key, str) else value_of(constraint.attribute.type, key)
        return literal(constraint.attribute, value) if constraint.attribute.scale else repr(value)

    if constraint.values is not None:
        return f"{name} in {{{', '.join(show(v) for v in constraint.values)}}}"
    parts = []
    if constraint.low is not None:
        parts.append(f"{name} >= {show(constraint.low)}")
    if constraint.high is not None:
        sign = "<" if isinstance(constraint.high, str) else "<="
        parts.append(f"{name} {sign} {show(constraint.high)}")
    parts += [f"{name} <> {show(v)}" for v in constraint.excluded]
    parts += [write(pattern) for pattern in constraint.patterns]
    return " and ".join(parts) or f"{name} is present"
