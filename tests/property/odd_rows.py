"""Odd publications: those of a workload, or drawn, with values and names that readers trip over."""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

import numpy as np

from wherecast.model import Schema

_ANY = [None, True, False, 0, "", "x", [], {}, (1, 2), b"x", object(), 1j]
_ODD: dict[str, list[Any]] = {
    "float": [
        nan, inf, -inf, 0.0, -0.0, 5e-324, 1e308, 1e300, 2**53 + 1, 2**70, 10**400, 5, -5,
        Decimal("1.5"), Decimal("NaN"), np.float64(2.5), np.float32(0.1), np.int64(3), "1.5",
    ],
    "int": [
        0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**5000, 5.0, 5.5,
        nan, inf, Decimal("5"), Decimal("5.5"), np.int32(7), np.uint64(2**63), "5",
    ],
    "string": [
        "", "a", "A", "é", "e\u0301", "日本", "😀", "\uffff", "a\0b", "\ud800", "a\udfff",
        "x" * 5000, "zzzz", " ", np.str_("a"), 5, 1.5,
    ],
    "bool": [True, False, np.bool_(True), 0, 1, "true", 1.0],
    "timestamp": [
        "2026-05-01T12:30:00Z", "2026-05-01", "2026-05-01 12:30:00.123456789+02:00", "2026-02-30",
        "yesterday", "0001-01-01", "9999-12-31T23:59:59.999999Z", 0, 10**18,
        datetime(2026, 5, 1, 12, tzinfo=UTC), datetime(2026, 5, 1, 12), date(2026, 5, 1),
        np.datetime64("2026-05-01"),
    ],
    "array<string>": [
        [], ["a"], ["a", "a", None], [None], ["\ud800"], ("a", "b"), [1], [["a"]], "a", {"a": 1},
        ["a"] * 1001, [str(n) for n in range(300)],
    ],
    "array<int>": [[], [1, 2, 2], [None, 3], [2**63], [1.0], [1.5], (1,), [True], np.array([1, 2])],
    "array<float>": [
        [], [1.0, nan, nan], [0.0, -0.0], [None], [1], [2**70, 10**400], [inf], ["1"],
        np.array([1.5, 2.5]),
    ],
}  # fmt: skip


def odd_row(rng: Random, schema: Schema, row: dict[str, Any]) -> Any:
    """A row with some oddities; most rows have one or two, so that they are often good."""
    made = dict(row)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        rng.choice(_CHANGES)(rng, schema, made)
    return made


def odd_value(rng: Random, type_: str, number: Any = None) -> Any:
    """A value of a type, or of another one."""
    if rng.random() < 0.1:
        return rng.choice(_ANY)
    return rng.choice(_ODD[type_])


def _put_odd(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    one = rng.choice(schema.attributes)
    row[one.name] = odd_value(rng, one.type)


def _put_bound(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    """A value at the end of a domain, or just beyond, or between two steps."""
    one = rng.choice(schema.attributes)
    if one.values is not None:
        row[one.name] = rng.choice([*one.values, one.values[0] + "x", one.values[0].upper()])
    ends = [end for end in (one.min, one.max) if end is not None]
    if ends and not one.scale:
        end, step = rng.choice(ends), float(one.step or 1)
        row[one.name] = rng.choice([end, float(end), end + step / 2, end - step / 3, end + step])


def _drop(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    if row:
        del row[rng.choice(list(row))]


def _put_unknown(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    row[rng.choice(["zz", "", "\ud800", "a.b.c", 5, None, "\0now"])] = rng.choice(
        [1, None, "x", {}]
    )


def _recase(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    names = [name for name in row if isinstance(name, str)]
    if names:
        name = rng.choice(names)
        value = row[name] if rng.random() < 0.3 else row.pop(name)
        row[rng.choice([name.upper(), name.swapcase(), name.title()])] = value


def _nest(rng: Random, schema: Schema, row: dict[str, Any]) -> None:
    """Dotted names as a nested record."""
    dotted = [name for name in row if isinstance(name, str) and "." in name]
    for name in dotted:
        head, _, tail = name.partition(".")
        inner = row.setdefault(head, {})
        if isinstance(inner, dict):
            inner[tail] = row.pop(name)


_CHANGES = [_put_odd, _put_odd, _put_odd, _put_bound, _drop, _put_unknown, _recase, _nest]
