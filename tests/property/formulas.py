"""Random formulas, each written three times: for the language, for Spark SQL and for DuckDB.

Spark fails on a row where a formula here is NULL, so its text uses the `try_` functions, and a
guard where there is no such function. DuckDB's text is None where DuckDB means something else.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nan
from random import Random
from typing import Any

from wherecast import Schema
from wherecast.language.meaning.bind import Binder
from wherecast.language.meaning.bind_operands import Item
from wherecast.language.meaning.formula import Formula
from wherecast.language.text.parser import parse
from wherecast.model.limits import DEFAULT_LIMITS
from wherecast.model.times import DAY_MICROS

SCHEMA = Schema.from_dict(
    {
        "a": "int",
        "b": "int",
        "x": "float",
        "y": "float",
        "p": {"type": "decimal", "scale": 2},
        "q": {"type": "decimal", "scale": 5},
        "s": "string",
        "u": "string",
        "t": "timestamp",
        "v": "timestamp",
        "d": "date",
        "f": "bool",
        "tags": "array<string>",
        "nums": "array<int>",
    }
)
INT_MIN, INT_MAX = -(2**63), 2**63 - 1
INTS = [0, 1, -1, 2, 3, -7, 10, 59, 1000, 2**31, 2**53 + 1, 2**62, INT_MIN, INT_MIN + 1, INT_MAX]
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 1e-300, 1e300, 2.0**63, nan, inf, -inf]
UNITS = [0, 1, -1, 5, 50, -150, 12345, 99999, 10**17, 10**18 - 1, -(10**18) + 1]
STRINGS = ["", "a", " a ", "Zagreb", "čĆ", "ß", "a\U0001f600b", "%", "\ta", "12"]
DAYS = [0, -1, 1, 18320, 18321, 19782, -700000, 2900000, -25567, 11016]


@dataclass(frozen=True)
class Text:
    """A formula of one kind as the language, Spark and DuckDB write it."""

    ours: str
    spark: str
    duck: str | None

    @classmethod
    def same(cls, text: str, duck: str | None = "") -> "Text":
        return cls(text, text, text if duck == "" else duck)


def make_formula_row(rng: Random) -> dict[str, Any]:
    """A canonical row with missing values and the ends of every type."""
    draw: dict[str, Callable[[], Any]] = {
        **dict.fromkeys("ab", lambda: rng.choice([rng.choice(INTS), rng.randint(-20, 20)])),
        **dict.fromkeys("xy", lambda: rng.choice([rng.choice(FLOATS), rng.uniform(-9, 9)])),
        **dict.fromkeys("pq", lambda: rng.choice([rng.choice(UNITS), rng.randint(-2000, 2000)])),
        **dict.fromkeys("su", lambda: rng.choice(STRINGS)),
        **dict.fromkeys("tv", lambda: rng.choice(DAYS) * DAY_MICROS + rng.randrange(DAY_MICROS)),
        "d": lambda: rng.choice(DAYS) * DAY_MICROS,
        "f": lambda: rng.random() < 0.5,
        "tags": lambda: tuple(rng.choice([*STRINGS, None]) for _ in range(rng.randrange(4))),
        "nums": lambda: tuple(rng.choice([1, 2, None, INT_MAX]) for _ in range(rng.randrange(4))),
    }  # fmt: skip
    return {name: one() for name, one in draw.items() if rng.random() < 0.85}


def read_formula(text: str) -> Formula:
    """The formula of a text over `SCHEMA`, of whatever type."""
    binder = Binder(SCHEMA, DEFAULT_LIMITS)
    item: Item = binder._bound(parse(text, DEFAULT_LIMITS))
    return binder.formula(item)


class Formulas:
    """Draws formulas of a kind: int, float, decimal, string, time, date or bool."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def make(self, kind: str, depth: int) -> Text:
        if depth <= 0 or self.rng.random() < 0.15:
            return self._leaf(kind)
        if kind != "bool" and self.rng.random() < 0.15:
            return self._choice(kind, depth)
        found: Text = getattr(self, f"_{kind}")(depth - 1)
        return found

    def _leaf(self, kind: str) -> Text:
        rng = self.rng
        names = {"int": "ab", "float": "xy", "decimal": "pq", "string": "su", "time": "tv",
                 "date": "d", "bool": "f"}[kind]  # fmt: skip
        if rng.random() < 0.65:
            return Text.same(rng.choice(names))
        if kind == "int":
            number = rng.choice([0, 1, 2, 3, 7, -2, 100, 2**40])
            return Text(f"{number}L", f"{number}L", f"({number})::BIGINT")
        if kind == "float":
            number_text = rng.choice(["0D", "1.5D", "-2D", "1e300", "0.1D"])
            return Text.same(number_text, f"({number_text.strip('D')})::DOUBLE")
        if kind == "decimal":
            return Text.same(rng.choice(["0.5", "1.25", "-3.0", "100.001", "0.3333333"]), None)
        if kind == "string":
            return Text.same(rng.choice(["''", "'a'", "' b '", "'Zagreb'"]))
        if kind == "bool":
            return Text.same(rng.choice(["TRUE", "FALSE"]))
        if kind == "date":
            return Text.same(rng.choice(["DATE '2020-02-29'", "DATE '1969-12-31'"]))
        moment = rng.choice(["2020-02-29 23:59:59.999999", "1969-12-31 01:02:03"])
        return Text(f"TIMESTAMP '{moment}Z'", f"TIMESTAMP '{moment}Z'", f"TIMESTAMP '{moment}'")

    def _choice(self, kind: str, depth: int) -> Text:
        one, two = self.make(kind, depth - 1), self.make(kind, depth - 1)
        test = self.make("bool", depth - 1)
        form = self.rng.choice(
            ["coalesce({0}, {1})", "nullif({0}, {1})", "greatest({0}, {1})", "least({0}, {1})",
             "CASE WHEN {2} THEN {0} ELSE {1} END", "CASE WHEN {2} THEN {0} END",
             "CASE {0} WHEN {1} THEN {1} ELSE {0} END", "if({2}, {0}, {1})"]
        )  # fmt: skip
        return _filled(form, one, two, test)

    def _int(self, depth: int) -> Text:
        rng = self.rng
        what = rng.randrange(8)
        if what < 4:
            return self._arithmetic("int", depth, [*"+-*%", "div"])
        if what == 4:
            return self._signed(self.make("int", depth))
        if what == 5:
            inner = self.make("float", depth)
            name = rng.choice(["floor", "ceil"])
            fits = f"{inner.spark} >= {-(2.0**63)}D AND {inner.spark} < {2.0**63}D"
            guard = f"if(isnan({inner.spark}) OR {fits}, {name}({inner.spark}), NULL)"
            return Text(f"{name}({inner.ours})", guard, None)
        if what == 6:
            fields = ["hour", "minute", "second", "day", "dayofweek", "dayofyear", "weekday",
                      "month", "quarter", "year"]  # fmt: skip
            name, inner = rng.choice(fields), self.make("time", depth)
            duck = None if name in ("dayofweek", "weekday") else _duck(f"{name}({{0}})", inner)
            ours = f"{name}({inner.ours})"
            return Text(ours, f"CAST({name}({inner.spark}) AS BIGINT)", duck)
        if rng.random() < 0.5:
            inner = self.make("string", depth)
            duck = _duck("length({0})", inner)
            return Text(f"length({inner.ours})", f"CAST(length({inner.spark}) AS BIGINT)", duck)
        place = rng.randrange(3)
        return rng.choice(
            [
                Text("size(tags)", "CAST(size(tags) AS BIGINT)", "len(tags)"),
                Text(f"nums[{place}]", f"get(nums, {place})", f"nums[{place + 1}]"),
            ]
        )

    def _signed(self, inner: Text) -> Text:
        name = self.rng.choice(["abs", "-"])
        ours = f"{name}({inner.ours})"
        guard = f"if({inner.spark} = {INT_MIN}L, NULL, {name}({inner.spark}))"
        return Text(ours, guard, _duck(f"TRY({name}({{0}}))", inner))

    def _arithmetic(self, kind: str, depth: int, operators: list[str]) -> Text:
        operator = self.rng.choice(operators)
        if kind == "decimal" and operator == "%":
            depth = 0  # Spark's try_mod fails where a quotient has more than 38 digits
        left, right = self.make(kind, depth), self.make(kind, depth)
        if kind == "decimal" and self.rng.random() < 0.4:
            other = self.make("int", 0)
            left, right = self.rng.choice([(left, other), (other, left)])
        ours = f"({left.ours} {operator} {right.ours})"
        if operator == "div":
            bad = f"{right.spark} = 0 OR ({left.spark} = {INT_MIN}L AND {right.spark} = -1)"
            spark = f"if({bad}, NULL, {left.spark} div {right.spark})"
        else:
            names = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "mod"}
            spark = f"try_{names[operator]}({left.spark}, {right.spark})"
        duck = None
        if kind == "int" and operator != "/":
            sign = "//" if operator == "div" else operator
            duck = _duck(f"TRY({{0}} {sign} {{1}})", left, right)
            if operator == "%":  # DuckDB fails on the least int % -1, which is 0
                duck = _duck("if({1} = -1, {0} * 0, TRY({0} % {1}))", left, right)
        elif kind == "float" and operator in "+-*":
            duck = _duck(f"({{0}} {operator} {{1}})", left, right)
        return Text(ours, spark, duck)

    def _float(self, depth: int) -> Text:
        what = self.rng.randrange(6)
        if what < 3:
            return self._arithmetic("float", depth, list("+-*/%"))
        if what == 3:
            return self._arithmetic("int", depth, ["/"])
        inner = self.make("float", depth)
        if what == 4:
            digits = self.rng.choice([0, 1, 3, -1])
            text = f"round({{0}}, {digits})"
            return Text(text.format(inner.ours), text.format(inner.spark), None)
        return _filled(self.rng.choice(["abs({0})", "-({0})"]), inner)

    def _decimal(self, depth: int) -> Text:
        if self.rng.random() < 0.7:
            return self._arithmetic("decimal", depth, list("+-*/%"))
        form = self.rng.choice(
            ["abs({0})", "-({0})", "round({0}, 1)", "round({0})", "round({0}, -1)", "floor({0})",
             "ceil({0})"]
        )  # fmt: skip
        return _without_duck(_filled(form, self.make("decimal", depth)))

    def _string(self, depth: int) -> Text:
        one, two = self.make("string", depth), self.make("string", depth)
        form = self.rng.choice(
            ["lower({0})", "upper({0})", "trim({0})", "ltrim({0})", "rtrim({0})",
             "concat({0}, {1})", "substring({0}, 2)", "substring({0}, 0, 2)",
             "substring({0}, -2, 5)", "substring({0}, -3, 1)", "substring({0}, 1, -1)", "tags[1]"]
        )  # fmt: skip
        if form == "tags[1]":
            return Text("tags[1]", "get(tags, 1)", "tags[2]")
        found = _filled(form, one, two)
        # DuckDB folds letters one by one, counts a place before the start otherwise, and its
        # concat skips NULL.
        skipped = ("lower", "upper", "substring", "concat")
        return _without_duck(found) if form.startswith(skipped) else found

    def _time(self, depth: int) -> Text:
        inner = self.make("time", depth)
        if self.rng.random() < 0.4:
            unit = self.rng.choice(["year", "quarter", "month", "week", "day", "hour", "minute",
                                    "second", "millisecond", "microsecond"])  # fmt: skip
            return _filled(f"date_trunc('{unit}', {{0}})", inner)
        length = self.rng.choice(
            ["INTERVAL 1 MONTH", "INTERVAL 1 YEAR", "INTERVAL '13' MONTH", "INTERVAL 5 HOURS",
             "INTERVAL 1 DAY", "INTERVAL '0.5' SECOND", "INTERVAL 90 MINUTES"]
        )  # fmt: skip
        sign, name = self.rng.choice([("+", "try_add"), ("-", "try_subtract")])
        return Text(
            f"({inner.ours} {sign} {length})", f"{name}({inner.spark}, {length})",
            _duck(f"({{0}} {sign} {length})", inner),
        )  # fmt: skip

    def _date(self, depth: int) -> Text:
        inner = self.make("date", depth)
        length = self.rng.choice(["INTERVAL 1 MONTH", "INTERVAL 1 YEAR", "INTERVAL 3 DAYS"])
        sign, name = self.rng.choice([("+", "try_add"), ("-", "try_subtract")])
        return Text(f"({inner.ours} {sign} {length})", f"{name}({inner.spark}, {length})", None)

    def _bool(self, depth: int) -> Text:
        rng = self.rng
        if rng.random() < 0.3:
            one, two = self.make("bool", depth), self.make("bool", depth)
            form = rng.choice(["({0} AND {1})", "({0} OR {1})", "(NOT {0})", "({0} IS TRUE)",
                               "({0} IS NOT FALSE)", "({0} IS NULL)", "({0} <=> {1})"])  # fmt: skip
            return _filled(form, one, two)
        if rng.random() < 0.1:
            lists = ["array_contains(tags, s)", "arrays_overlap(tags, array('a', ''))",
                     "array_contains(nums, a)", "arrays_overlap(nums, array(1L, 2L))",
                     "(tags IS NULL)"]  # fmt: skip
            return Text.same(rng.choice(lists), None)
        kind = rng.choice(["int", "float", "decimal", "string", "time", "date"])
        one, two, three = (self.make(kind, depth) for _ in range(3))
        form = rng.choice(
            ["({0} < {1})", "({0} <= {1})", "({0} > {1})", "({0} >= {1})", "({0} = {1})",
             "({0} <> {1})", "({0} BETWEEN {1} AND {2})", "({0} NOT BETWEEN {1} AND {2})",
             "({0} IN ({1}, {2}))", "({0} NOT IN ({1}, {2}, NULL))", "({0} IS NULL)",
             "({0} IS NOT NULL)", "({0} IS DISTINCT FROM {1})", "({0} <=> {1})"]
        )  # fmt: skip
        found = _filled(form, one, two, three)
        if kind == "decimal" and " IN " in form:  # Spark compares with all in one type
            spark = form.replace("NOT IN ({1}, {2}, NULL)", "<> {1} AND {0} <> {2} AND NULL")
            spark = spark.replace("IN ({1}, {2})", "= {1} OR {0} = {2}")
            return replace(found, spark=_filled(spark, one, two, three).spark)
        return found


def _filled(form: str, *parts: Text) -> Text:
    return Text(
        form.format(*(one.ours for one in parts)),
        form.format(*(one.spark for one in parts)),
        _duck(form.replace("<=>", "IS NOT DISTINCT FROM"), *parts),
    )


def _duck(form: str, *parts: Text) -> str | None:
    used = [part for place, part in enumerate(parts) if f"{{{place}}}" in form]
    if any(part.duck is None for part in used):
        return None
    return form.format(*(part.duck for part in parts))


def _without_duck(text: Text) -> Text:
    return Text(text.ours, text.spark, None)
