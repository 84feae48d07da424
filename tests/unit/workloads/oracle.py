"""Counts matches from the texts of filters and the values of publications alone.

Nothing of Wherecast decides here: regular expressions read the constants, numpy compares, and
DuckDB evaluates what is more than comparisons.
"""

import re
from dataclasses import dataclass
from itertools import islice

import duckdb
import numpy as np
import pyarrow as pa

COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "=": np.equal,
    "<>": np.not_equal,
}

CONJUNCT = re.compile(
    r"(\w+) (?:(<=?|>=?|=) (\S+)|BETWEEN (\S+) AND (\S+)|IN \(([^)]+)\))(?: AND (?=\w)|$)"
)


@dataclass(frozen=True)
class Counted:
    """How many publications each filter matches and how many filters each publication."""

    by_filter: np.ndarray
    by_publication: np.ndarray

    @property
    def per_publication(self) -> float:
        return self.by_publication.mean()

    @property
    def three_errors(self) -> float:
        """Three relative standard errors of the mean, estimated from the sample itself."""
        ends = (self.by_filter, self.by_publication)
        return 3 * np.sqrt(sum((end.std() / end.mean()) ** 2 / end.size for end in ends))


def texts(workload, n) -> list[str]:
    return [text for batch in workload.filters(n) for text in batch["filter"].to_pylist()]


def publications(workload, n) -> pa.Table:
    return pa.Table.from_batches(list(workload.publications(n)))


def check(workload, counted: Counted) -> None:
    """Fails where the count is not the stated one, or the stated tolerance is not its error."""
    filters, sent = counted.by_filter.size, counted.by_publication.size
    expected = workload.matches_per_publication(filters)
    tolerance = workload.rate.tolerance(filters, sent)
    assert abs(counted.per_publication / expected - 1) <= tolerance, (
        f"{counted.per_publication} matches per publication, not {expected} ± {tolerance:.1%}"
    )
    assert 0.6 < counted.three_errors / tolerance < 1.5


def ranges(filters: list[str], names) -> tuple[np.ndarray, np.ndarray]:
    """The bounds [low, high) of every filter; shape (filters, dimensions)."""
    pattern = re.compile(" AND ".join(rf"{name} >= (\S+) AND {name} < (\S+)" for name in names))
    bounds = np.array([pattern.fullmatch(text).groups() for text in filters], float)
    return bounds[:, 0::2], bounds[:, 1::2]


def count_ranges(workload, filters: int, sent: int) -> Counted:
    lows, highs = ranges(texts(workload, filters), workload.schema.names)
    table = publications(workload, sent)
    points = np.stack([column.to_numpy() for column in table.columns])
    points = points[:, np.argsort(points[0])]
    starts, ends = np.searchsorted(points[0], lows[:, 0]), np.searchsorted(points[0], highs[:, 0])
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        inside = np.ones(end - start, bool)
        for d in range(1, len(points)):
            values = points[d, start:end]
            inside &= (lows[number, d] <= values) & (values < highs[number, d])
        by_filter[number] = inside.sum()
        by_publication[start:end] += inside
    return Counted(by_filter, by_publication)


def count_alerts(workload, filters: int, sent: int) -> Counted:
    pattern = re.compile(r"symbol = '(S\d+)' AND price ([<>]) (\S+)(?: AND volume > (\S+))?")
    found = [pattern.fullmatch(text).groups("-inf") for text in texts(workload, filters)]
    symbols, signs, thresholds, least = map(np.array, zip(*found, strict=True))
    signs = np.where(signs == ">", 1.0, -1.0)  # price < x is −price > −x
    thresholds, least = thresholds.astype(float) * signs, least.astype(float)
    table = publications(workload, sent)
    quoted = table["symbol"].to_numpy().astype(str)
    prices, volumes = table["price"].to_numpy(), table["volume"].to_numpy()
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    quotes, alerts = _groups(quoted), _groups(symbols)
    for symbol in quotes.keys() & alerts.keys():
        mine = alerts[symbol]
        for some in np.array_split(quotes[symbol], quotes[symbol].size // 1_000 + 1):
            matched = prices[some, None] * signs[mine] > thresholds[mine]
            matched &= volumes[some, None] > least[mine]
            by_filter[mine] += matched.sum(axis=0)
            by_publication[some] += matched.sum(axis=1)
    return Counted(by_filter, by_publication)


def count_either(workload, filters: int, sent: int) -> Counted:
    """City by city: the first threshold, or the second."""
    pattern = re.compile(r"(?:city = '(\w+)' AND )?\(?no2 > (\S+) OR pm10 > ([^\s)]+)\)?")
    found = [pattern.fullmatch(text).groups("") for text in texts(workload, filters)]
    cities, no2, pm10 = map(np.array, zip(*found, strict=True))
    no2, pm10 = no2.astype(float), pm10.astype(float)
    table = publications(workload, sent)
    readings = table["no2"].to_numpy(), table["pm10"].to_numpy()
    named = table["city"].to_numpy().astype(str) if cities[0] else np.full(sent, "")
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    there, asked = _groups(named), _groups(cities)
    for city in there.keys() & asked.keys():
        mine, some = asked[city], there[city]
        matched = readings[0][some, None] > no2[mine]
        matched |= readings[1][some, None] > pm10[mine]
        by_filter[mine] += matched.sum(axis=0)
        by_publication[some] += matched.sum(axis=1)
    return Counted(by_filter, by_publication)


def tag_filter(text: str) -> tuple[str, list[str]]:
    """The kind of a filter on tags (one, any, all) and its tags."""
    tags = re.findall(r"'(tag\d+)'", text)
    if text.startswith("arrays_overlap"):
        listed = ", ".join(f"'{tag}'" for tag in tags)
        assert text == f"arrays_overlap(tags, array({listed}))"
        return "any", tags
    assert text == " AND ".join(f"array_contains(tags, '{tag}')" for tag in tags)
    return ("one" if len(tags) == 1 else "all"), tags


def count_tags(workload, filters: int, sent: int) -> Counted:
    """Every publication with the filters that name one of its tags, as sets."""
    asked = [tag_filter(text) for text in texts(workload, filters)]
    naming = {}
    for number, (_, tags) in enumerate(asked):
        for tag in tags:
            naming.setdefault(tag, set()).add(number)
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    for row, carried in enumerate(map(set, publications(workload, sent)["tags"].to_pylist())):
        for number in set().union(*(naming.get(tag, ()) for tag in carried)):
            kind, tags = asked[number]
            if kind != "all" or carried.issuperset(tags):
                by_filter[number] += 1
                by_publication[row] += 1
    return Counted(by_filter, by_publication)


def single_predicates(filters: list[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The attribute, the operator and the constant's text of filters with one predicate each."""
    pattern = re.compile(r"(\w+) (<|<=|>|>=|=|<>) (\S+|TIMESTAMP '[^']+')")
    found = [pattern.fullmatch(text).groups() for text in filters]
    names, operators, constants = zip(*found, strict=True)
    return np.array(names), np.array(operators), list(constants)


def count_single_predicates(workload, filters: int, sent: int) -> Counted:
    names, operators, constants = single_predicates(texts(workload, filters))
    numbers = np.array([_number(text) for text in constants])
    table = publications(workload, sent)
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    for name in np.unique(names):
        column = table[name].combine_chunks()
        carriers = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        values = column.drop_null()
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.int64())
        values = values.to_numpy().astype(float)
        for operator, compare in COMPARE.items():
            mine = np.flatnonzero((names == name) & (operators == operator))
            matched = compare(values[:, None], numbers[mine])
            by_filter[mine] = matched.sum(axis=0)
            by_publication[carriers] += matched.sum(axis=1)
    return Counted(by_filter, by_publication)


def conjunction(text: str) -> list[tuple[str, str, list[str]]]:
    """The predicates of a filter: attribute, operator and the texts of the constants."""
    predicates, at = [], 0
    while at < len(text):
        found = CONJUNCT.match(text, at)
        assert found, f"not a predicate: {text[at:]}"
        name, operator, constant, low, high, listed = found.groups()
        if operator:
            predicates.append((name, operator, [constant]))
        elif low:
            predicates += [(name, ">=", [low]), (name, "<=", [high])]
        else:
            predicates.append((name, "IN", listed.split(", ")))
        at = found.end()
    return predicates


def count_conjunctions(workload, filters: int, sent: int) -> Counted:
    """Every filter on every publication, each predicate on those that passed the ones before."""
    table = publications(workload, sent)
    codes, columns = {}, {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type):
            column = column.dictionary_encode()
            values = [f"'{value}'" for value in column.dictionary.to_pylist()]
            codes[name] = {value: code for code, value in enumerate(values)}
            column = column.indices
        columns[name] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)  # missing: NaN
    by_filter, by_publication = np.zeros(filters, int), np.zeros(sent, int)
    for number, text in enumerate(texts(workload, filters)):
        rows = slice(None)
        for name, operator, constants in conjunction(text):
            values = columns[name][rows]
            wanted = [
                codes[name].get(each, -1) if name in codes else float(each) for each in constants
            ]
            if operator == "IN":
                passed = np.logical_or.reduce([values == each for each in wanted])
            else:
                passed = COMPARE[operator](values, wanted[0])
            rows = np.flatnonzero(passed) if isinstance(rows, slice) else rows[passed]
        by_filter[number] = rows.size
        by_publication[rows] += 1
    return Counted(by_filter, by_publication)


def count_with_duckdb(workload, filters: int, sent: int) -> Counted:
    """Every filter evaluated as a WHERE clause of DuckDB on every publication."""
    table = publications(workload, sent)
    naive = [
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in table.schema
    ]
    by_filter, by_publication = [], np.zeros(sent, int)
    with duckdb.connect() as connection:
        connection.execute("PRAGMA disable_optimizer")  # slow on such wide queries
        connection.register("publications", table.cast(pa.schema(naive)))
        rest = iter(texts(workload, filters))
        while some := list(islice(rest, 500)):
            columns = ", ".join(f"coalesce(({_in_duckdb(text)}), false)" for text in some)
            answer = connection.execute(f"SELECT {columns} FROM publications").fetchnumpy()
            matched = np.stack(list(answer.values()), axis=1)
            assert matched.shape == (sent, len(some))
            by_filter.append(matched.sum(axis=0))
            by_publication += matched.sum(axis=1)
    return Counted(np.concatenate(by_filter), by_publication)


def _in_duckdb(text: str) -> str:
    """The filter with DuckDB's names of the functions on arrays."""
    return re.sub(r"arrays_overlap\((\w+), array\(([^)]*)\)\)", r"list_has_any(\1, [\2])", text)


def _groups(keys: np.ndarray) -> dict[str, np.ndarray]:
    """The places of each key."""
    order = np.argsort(keys, kind="stable")
    unique, starts = np.unique(keys[order], return_index=True)
    return dict(zip(unique.tolist(), np.split(order, starts[1:]), strict=True))


def _number(constant: str) -> float:
    """The constant as a float; a time as microseconds since 1970."""
    if constant.startswith("TIMESTAMP"):
        return float(np.datetime64(constant.split("'")[1], "us").astype(int))
    return float(constant)
