"""Steps: what the parser gives for the text of a filter, operands before their operators.

| code | argument | takes |
|---|---|---|
| `name` | the dotted name | – |
| `literal` | its `Word` | – |
| `interval` | its `Interval` | – |
| `negate`, `plus`, `not` | – | 1 |
| `binary` | one of `+ - * / % div` | 2 |
| `compare` | one of `= <> < <= > >= <=>` | 2 |
| `and`, `or` | – | 2 |
| `in` | (negated, count) | the subject and count items |
| `between` | negated | subject, low, high |
| `pattern` | (`like`, `ilike` or `rlike`, negated, has_escape) | subject, pattern, escape |
| `is` | (`null`, `true`, `false` or `unknown`, negated) | 1 |
| `distinct` | negated: IS [NOT] DISTINCT FROM | 2 |
| `call` | (name in lower case, count) | count |
| `case` | (branches, has_else, has_subject) | operands in the order of the text |
| `cast` | (type in lower case, is_try) | 1 |
| `index` | – | the array and the place |
"""

from typing import Any, NamedTuple


class Interval(NamedTuple):
    """A length of time: months, and microseconds beside them; a day is 24 hours."""

    months: int
    micros: int


class Step(NamedTuple):
    """One step; `position` is where the operand, the operator or the called name begins."""

    code: str
    argument: Any
    position: int


_COUNTS = {
    **dict.fromkeys(("name", "literal", "interval"), 0),
    **dict.fromkeys(("negate", "plus", "not", "is", "cast"), 1),
    **dict.fromkeys(("binary", "compare", "and", "or", "distinct", "index"), 2),
    "between": 3,
}


def operands_of(step: Step) -> int:
    """How many operands a step takes."""
    code, argument, _ = step
    count = _COUNTS.get(code)
    if count is not None:
        return count
    match code:
        case "in":
            return int(argument[1]) + 1
        case "pattern":
            return 3 if argument[2] else 2
        case "call":
            return int(argument[1])
    assert code == "case"
    branches, has_else, has_subject = argument
    return 2 * int(branches) + bool(has_else) + bool(has_subject)
