"""Deep random filters over many types, each written for the language and for DuckDB.

A filter is a tree of AND, OR and NOT of a few levels. Its leaves are predicates of every kind on
attributes, on arithmetic and on functions; `tests.property.formulas` draws the formulas.
"""

from dataclasses import dataclass
from itertools import pairwise
from random import Random

from tests.property.formulas import Formulas, Text

DEPTH_MAX, PREDICATES_MAX = 8, 60
KINDS = ("int", "float", "decimal", "string", "time", "date")
CONSTANTS = {
    "int": ["0", "1", "-7", "3", "59", "1000", "4294967296"],
    "float": ["0.0", "1.5", "-1.5", "2.5", "7.25", "1e300"],
    "decimal": ["0.00", "0.5", "-1.50", "123.45", "7"],
    "string": ["''", "'a'", "'Zagreb'", "'čĆ'", "'12'", "'x'"],
    "time": ["TIMESTAMP '2020-02-29 12:00:00{z}'", "TIMESTAMP '1969-12-31 01:02:03{z}'"],
    "date": ["DATE '2020-02-29'", "DATE '1969-12-31'", "DATE '2000-02-29'"],
}
ATTRIBUTES = {"int": "ab", "float": "xy", "decimal": "pq", "string": "su", "time": "tv",
              "date": "d"}  # fmt: skip
LIKES = ["'a'", "'%a%'", "'_a_'", "'Z%b'", "'%'", "'%ag__b'", "'_'", "'%1%2%'", "''", "'% a%'"]
REGEXES = ["'a'", "'^Z.*b$'", "'[0-9]+'", "'^ ?a'", "'gr|12'", "'^$'", "'(za|Za)g'"]
FORMS = (
    "{0} < {1}", "{0} <= {1}", "{0} > {1}", "{0} >= {1}", "{0} = {1}", "{0} <> {1}",
    "{0} <=> {1}", "{0} IS DISTINCT FROM {1}", "{0} BETWEEN {1} AND {2}",
    "{0} NOT BETWEEN {1} AND {2}", "{0} IN ({1}, {2}, {3})", "{0} NOT IN ({1}, {2})",
    "{0} IN ({1}, NULL)", "{0} IS NULL", "{0} IS NOT NULL",
)  # fmt: skip
TRUTHS = ("f", "NOT f", "f IS TRUE", "f IS NOT FALSE", "f IS NULL", "TRUE", "FALSE")


@dataclass(frozen=True)
class DeepFilter:
    """A filter: its text, DuckDB's text, the levels of its tree and its predicates."""

    ours: str
    duck: str
    depth: int
    predicates: int


class DeepFilters:
    """Draws deep filters."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._formulas = Formulas(rng)

    def draw(self) -> DeepFilter:
        """A filter of any depth and size within the bounds."""
        rng = self._rng
        return self._tree(rng.randint(3, DEPTH_MAX), rng.randint(1, PREDICATES_MAX))

    def _tree(self, depth: int, predicates: int) -> DeepFilter:
        """A tree of at most so many levels and predicates; one predicate is no level."""
        rng = self._rng
        if depth == 0 or (predicates == 1 and rng.random() < 0.7):
            one = self._predicate()
            assert one.duck is not None
            return DeepFilter(one.ours, one.duck, 0, 1)
        if predicates == 1 or rng.random() < 0.15:
            inner = self._tree(depth - 1, predicates)
            ours, duck = f"NOT ({inner.ours})", f"NOT ({inner.duck})"
            return DeepFilter(ours, duck, 1 + inner.depth, inner.predicates)
        parts = [self._tree(depth - 1, share) for share in self._shares(predicates)]
        word = rng.choice([" AND ", " OR "])
        return DeepFilter(
            word.join(f"({part.ours})" for part in parts),
            word.join(f"({part.duck})" for part in parts),
            1 + max(part.depth for part in parts),
            sum(part.predicates for part in parts),
        )

    def _shares(self, predicates: int) -> list[int]:
        """Predicates split among two to four parts."""
        ends = self._rng.sample(range(1, predicates), min(predicates, self._rng.randint(2, 4)) - 1)
        cuts = [0, *sorted(ends), predicates]
        return [end - start for start, end in pairwise(cuts)]

    def _predicate(self) -> Text:
        """A predicate of any kind that DuckDB means alike."""
        rng, kind = self._rng, self._rng.random()
        if kind < 0.08:
            return Text.same(rng.choice(TRUTHS))
        if kind < 0.2:
            return self._pattern()
        if kind < 0.26:
            return self._listed()
        chosen = rng.choice(KINDS)
        if kind < 0.7:
            sides = [Text.same(rng.choice(ATTRIBUTES[chosen]))]
        else:
            sides = [self._formula(chosen)]
        sides += [self._constant(chosen) for _ in range(3)]
        if rng.random() < 0.08:
            sides[1] = self._formula(chosen)
        return _filled(rng.choice(FORMS), sides)

    def _formula(self, kind: str) -> Text:
        """A formula that DuckDB means alike: an attribute, where there are few of the kind."""
        if kind in ("decimal", "date"):
            return Text.same(self._rng.choice(ATTRIBUTES[kind]))
        if kind == "string" and self._rng.random() < 0.5:
            form = self._rng.choice(["lower({0})", "substring({0}, 2, 3)", "concat({0}, {1})"])
            duck = form.replace("concat({0}, {1})", "({0} || {1})")
            return Text(form.format("s", "u"), "", duck.format("s", "u"))
        while True:
            found = self._formulas.make(kind, self._rng.randint(1, 2))
            if found.duck is not None:
                return found

    def _constant(self, kind: str) -> Text:
        text = self._rng.choice(CONSTANTS[kind])
        return Text(text.replace("{z}", "Z"), "", text.replace("{z}", ""))

    def _pattern(self) -> Text:
        rng = self._rng
        side = Text.same(rng.choice("su")) if rng.random() < 0.8 else self._formula("string")
        negated = rng.choice(["", "", "NOT "])
        if rng.random() < 0.2:
            regex = rng.choice(REGEXES)
            ours = f"{side.ours} {negated}RLIKE {regex}"
            return Text(ours, "", f"{negated}regexp_matches({side.duck}, {regex})")
        word = rng.choice(["LIKE", "LIKE", "ILIKE"])
        return _filled(f"{{0}} {negated}{word} {rng.choice(LIKES)}", [side])

    def _listed(self) -> Text:
        """A predicate on an array; DuckDB's functions do not say unknown of a missing element."""
        name, value = self._rng.choice([("tags", "'a'"), ("tags", "'12'"), ("nums", "1")])
        duck = (
            f"CASE WHEN {name} IS NULL THEN NULL WHEN list_contains({name}, {value}) THEN TRUE "
            f"WHEN list_count({name}) < len({name}) THEN NULL ELSE FALSE END"
        )
        contains = Text(f"array_contains({name}, {value})", "", duck)
        size = Text(f"size({name}) > 1", "", f"len({name}) > 1")
        return self._rng.choice([contains, contains, size])


def _filled(form: str, sides: list[Text]) -> Text:
    duck = form.replace("<=>", "IS NOT DISTINCT FROM")
    return Text(
        form.format(*(side.ours for side in sides)), "", duck.format(*(side.duck for side in sides))
    )
