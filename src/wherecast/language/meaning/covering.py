"""Covering and overlap of filters, decided on normal forms.

`covers` is sound: where it says yes, every publication that matches the one matches the other. It
is complete for single conjunctions of intervals and value sets. `overlaps` is sound the other way:
where it says no, no publication matches both. Declared domains and steps are used: an interval
shrinks to the steps inside it, and a string attribute with listed values has a value set.

Sources: CUPUS, section 4.4.1 (covering), elastic BE-Tree, table 5.1 (operators over a domain).
"""

from dataclasses import replace
from math import inf, isfinite
from sys import float_info

from wherecast.language.meaning.constraint import Constraint, Key, allows, intersect
from wherecast.language.meaning.expression import Distance, Member, Pattern, Predicate
from wherecast.language.meaning.keys import RANGES, key_of, value_of
from wherecast.language.meaning.normal_form import Conjunction, NormalForm, Residual
from wherecast.language.meaning.patterns import pattern_verdict
from wherecast.model import Attribute

_FINITE_MAX = key_of("float", float_info.max)
_SMALL = 64  # an interval of at most so many whole values is compared as the set of them


def effective(constraint: Constraint) -> Constraint | None:
    """What the constraint allows inside the declared domain, or None where that is nothing."""
    attribute = constraint.attribute
    if constraint.presence == "missing":
        return constraint
    if attribute.values is not None:
        kept = tuple(sorted(v for v in attribute.values if allows(constraint, v)))
        return Constraint(attribute, values=kept) if kept else None
    if attribute.type in ("string", "any"):
        return _trimmed(constraint)
    low, high = domain(attribute)
    narrowed = intersect(constraint, Constraint(attribute, low=low, high=high))
    if narrowed is None:
        return None
    return _trimmed(narrowed) if attribute.grid is None else _on_grid(narrowed)


def domain(attribute: Attribute) -> tuple[int, int]:
    """The keys of the least and the greatest value that a publication can carry."""
    low, high = RANGES[attribute.type]
    grid = attribute.grid
    if attribute.min is not None:
        low = key_of(attribute.type, attribute.min)
    if attribute.max is not None:
        least = grid.round(attribute.max) if grid else attribute.max
        high = key_of(attribute.type, least)
    elif attribute.type == "float" and attribute.has_domain:
        high = key_of("float", inf)
    if grid and attribute.type == "float":  # nothing infinite lies on a step
        low, high = max(low, -_FINITE_MAX), min(high, _FINITE_MAX)
    return low, high


def _on_grid(constraint: Constraint) -> Constraint | None:
    """The constraint with its ends moved inwards to whole steps."""
    attribute = constraint.attribute
    if constraint.values is not None:
        kept = tuple(v for v in constraint.values if _is_step(attribute, v))
        return replace(constraint, values=kept) if kept else None
    low, high = inwards(attribute, constraint.low, 1), inwards(attribute, constraint.high, -1)
    if low is not None and high is not None and low > high:  # type: ignore[operator]
        return None
    kept = tuple(v for v in constraint.excluded if _is_step(attribute, v))
    return _trimmed(replace(constraint, low=low, high=high, excluded=kept))


def inwards(attribute: Attribute, end: Key | None, way: int) -> Key | None:
    """The end of an interval, moved to the first whole step on its way; no end stays none."""
    place = _place(attribute, end)
    if place is None:
        return end
    key = _step_key(attribute, place)
    return key if (key - end) * way >= 0 else _step_key(attribute, place + way)  # type: ignore[operator]


def _place(attribute: Attribute, key: Key | None) -> int | None:
    """The whole step nearest to a key, or None where the key is no finite number."""
    assert attribute.grid is not None
    value = value_of(attribute.type, key) if isinstance(key, int) else inf
    return attribute.grid.index(value) if isfinite(value) else None  # type: ignore[arg-type]


def _step_key(attribute: Attribute, index: int) -> int:
    assert attribute.grid is not None
    try:
        return key_of(attribute.type, attribute.grid.value(index))
    except OverflowError:  # the step beyond the greatest double
        return key_of("float", inf if index > 0 else -inf)


def _is_step(attribute: Attribute, key: Key) -> bool:
    place = _place(attribute, key)
    return place is not None and _step_key(attribute, place) == key


def _trimmed(constraint: Constraint) -> Constraint | None:
    """The constraint with no excluded value at its ends; a short interval as the set it is."""
    attribute, excluded = constraint.attribute, constraint.excluded
    low, high = constraint.low, constraint.high
    if attribute.type == "string":
        low = low or ""
        if high == "":
            return None
    if excluded:
        few = _few(constraint, _SMALL + len(excluded))
        if few is not None:
            return Constraint(attribute, values=tuple(few)) if few else None
        while low in excluded:
            low = _neighbour(attribute, low, 1)
        while isinstance(high, int) and high in excluded:
            high = _neighbour(attribute, high, -1)
        while isinstance(high, str) and high.endswith("\0") and high[:-1] in excluded:
            high = high[:-1]
    return replace(constraint, low=None if low == "" else low, high=high)


def _neighbour(attribute: Attribute, key: Key | None, way: int) -> Key:
    """The next value up (1), or for numbers down (-1)."""
    if isinstance(key, str):
        return key + "\0"
    assert key is not None
    place = None if attribute.grid is None else _place(attribute, key)
    step = key if place is None else _step_key(attribute, place + way)
    return key + way if step == key else step  # far out, steps are finer than doubles


def _few(constraint: Constraint, most: int) -> list[Key] | None:
    """The values that a constraint allows, or None where its interval has more than `most`."""
    attribute, low, high = constraint.attribute, constraint.low, constraint.high
    keys: list[Key]
    if isinstance(high, str):
        low = low or ""
        rest = high.removeprefix(low) if high.startswith(low) else high  # type: ignore[arg-type]
        if rest.strip("\0") or len(rest) > most:
            return None
        keys = [low + "\0" * more for more in range(len(rest))]  # type: ignore[operator]
    elif not isinstance(low, int) or not isinstance(high, int):
        return None
    elif attribute.grid is None:
        if high - low >= most:
            return None
        keys = list(range(low, high + 1))
    else:
        first, last = _place(attribute, low), _place(attribute, high)
        if first is None or last is None or last - first >= most:
            return None
        keys = [_step_key(attribute, place) for place in range(first, last + 1)]
    return [key for key in keys if allows(constraint, key)]


def possible(form: NormalForm) -> list[Conjunction]:
    """The conjunctions that can hold inside the declared domains, with effective constraints."""
    found = []
    for conjunction in form.conjunctions:
        narrowed = [effective(constraint) for constraint in conjunction.constraints]
        if None not in narrowed:
            found.append(Conjunction(tuple(c for c in narrowed if c), conjunction.residual))
    return found


def covers(outer: NormalForm, inner: NormalForm) -> bool:
    """Whether every publication that matches `inner` surely matches `outer`."""
    wide = possible(outer) if outer.is_exact else []
    return all(any(_covers(one, other) for one in wide) for other in possible(inner))


def overlaps(one: NormalForm, other: NormalForm) -> bool:
    """Whether a publication may match both; False is certain."""
    second = possible(other)
    return any(_meet(left, right) for left in possible(one) for right in second)


def _meet(left: Conjunction, right: Conjunction) -> bool:
    """Whether the constraints of two conjunctions leave something in common."""
    by_name = {c.attribute: c for c in right.constraints}
    for constraint in left.constraints:
        partner = by_name.get(constraint.attribute)
        if partner is None:
            continue
        both = intersect(constraint, partner)
        if both is None or effective(both) is None or _disjoint_patterns(both):
            return False
    return True


def _disjoint_patterns(constraint: Constraint) -> bool:
    """Whether two prefixes or two suffixes exclude each other."""
    for kind in ("prefix", "suffix"):
        texts = [p.text for p in constraint.patterns if p.kind == kind and not p.negated]
        longest = max(texts, key=len, default="")
        if any(not _within(kind, text, longest) for text in texts):
            return True
    return False


def _covers(outer: Conjunction, inner: Conjunction) -> bool:
    """Whether one conjunction surely holds wherever the other does."""
    by_name = {c.attribute: c for c in inner.constraints}
    for constraint in outer.constraints:
        narrower = by_name.get(constraint.attribute)
        if narrower is None or not contains(constraint, narrower):
            return False
    return all(_implied(residual, inner.residual) for residual in outer.residual)


def _implied(wanted: Residual, given: tuple[Residual, ...]) -> bool:
    """Whether a residual predicate follows from those of another conjunction."""
    if wanted in given:
        return True
    if isinstance(wanted, Member):
        return any(_narrower(wanted, other) for other in given if isinstance(other, Member))
    if not isinstance(wanted, Distance):
        return False
    return any(_nearer(wanted, other) for other in given if isinstance(other, Distance))


def _narrower(wanted: Member, other: Member) -> bool:
    """Whether an array with one of some elements surely has one of others, or has none."""
    if (wanted.attribute, wanted.negated) != (other.attribute, other.negated):
        return False
    fewer, more = (wanted, other) if wanted.negated else (other, wanted)
    return set(fewer.values) <= set(more.values)


def _nearer(wanted: Distance, other: Distance) -> bool:
    """Whether one circle lies in another around the same point, or outside it."""
    if (wanted.latitude, wanted.longitude, wanted.point) != (
        other.latitude,
        other.longitude,
        other.point,
    ):
        return False
    signs = {wanted.operator, other.operator}
    if signs <= {"<", "<="}:
        strict = wanted.operator == "<" and other.operator == "<="
        return other.metres < wanted.metres or (other.metres == wanted.metres and not strict)
    if signs <= {">", ">="}:
        strict = wanted.operator == ">" and other.operator == ">="
        return other.metres > wanted.metres or (other.metres == wanted.metres and not strict)
    return False


def contains(outer: Constraint, inner: Constraint) -> bool:
    """Whether every value that `inner` allows is surely allowed by `outer`."""
    if "missing" in (outer.presence, inner.presence):
        return outer.presence == inner.presence
    if inner.values is not None:
        return all(allows(outer, value) for value in inner.values)
    if outer.values is not None:
        few = _few(inner, len(outer.values) + len(inner.excluded))
        return few is not None and all(allows(outer, value) for value in few)
    if outer.low is not None and (inner.low is None or inner.low < outer.low):  # type: ignore[operator]
        return False
    if outer.high is not None and (inner.high is None or inner.high > outer.high):  # type: ignore[operator]
        return False
    free = replace(inner, patterns=())
    if any(allows(free, v) and not _excluded(inner, v) for v in outer.excluded):
        return False
    return all(any(_follows(p, q) for q in inner.patterns) for p in outer.patterns)


def _excluded(constraint: Constraint, value: object) -> bool:
    """Whether a pattern of the constraint rules a string out."""
    return isinstance(value, str) and any(
        pattern_verdict(pattern, value) is not True for pattern in constraint.patterns
    )


def _follows(wanted: Predicate, given: Predicate) -> bool:
    """Whether one pattern predicate follows from another, pairwise: sound, not complete."""
    if wanted == given:
        return True
    if not isinstance(wanted, Pattern) or not isinstance(given, Pattern):
        return False
    if wanted.negated or given.negated:
        return False
    if wanted.kind == "contains":
        return given.kind in ("contains", "prefix", "suffix") and wanted.text in given.text
    return wanted.kind == given.kind and _within(wanted.kind, wanted.text, given.text)


def _within(kind: str, shorter: str, longer: str) -> bool:
    """Whether a longer prefix or suffix implies a shorter one."""
    if kind == "prefix":
        return longer.startswith(shorter)
    return kind == "suffix" and longer.endswith(shorter)
