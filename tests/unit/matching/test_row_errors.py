"""What Spark would fail on in a row is unknown and counted by reason, by every kind of index."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import wherecast as wc
from wherecast.language.meaning.row_errors import REASONS, RowErrors, count_errors, counting

MOST = 2**63 - 1
SCHEMA = {
    "a": "int", "b": "int", "x": "float", "y": "float", "s": "string", "p": "string",
    "d": {"type": "decimal", "scale": 2}, "t": "timestamp",
    "tags": "array<string>",
}  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"a": 1, "b": 0, "x": 1.0, "y": 0.0, "s": "q", "p": "[", "d": "0", "tags": ["q"]},
    {"a": MOST, "b": 1, "x": 1.0, "y": 2.0, "s": "q", "p": "q", "d": "9" * 16, "tags": []},
    {"b": 0, "y": 0.0, "tags": [None, "q"]},
    {"a": 3, "b": 0, "s": "z" * 60_000, "p": "(", "t": "9999-12-31T23:00:00Z"},
]
KINDS = ("columnar", "betree", "forest", "scan")
CASES: dict[str, dict[str, int]] = {
    "a / b > 1": {"division_by_zero": 2},
    "NOT (a / b > 1)": {"division_by_zero": 2},
    "a / b IS NULL": {"division_by_zero": 2},
    "a % b = 1 OR a div b = 2": {"division_by_zero": 4},
    "d / d > 0": {"division_by_zero": 1},
    "x / y > 0.1 AND s = 'q'": {"division_by_zero": 1},
    "s = 'q' AND (x / y > 0.1 OR b = 7)": {"division_by_zero": 1},
    "a + b > 1": {"overflow": 1},
    "a * a * b > 1": {"overflow": 1},
    "-a - 2 < b": {"overflow": 1},
    "(a + b) / b > 1": {"overflow": 1, "division_by_zero": 2},
    "substring(s, a) = 'q'": {"overflow": 1},
    "t + INTERVAL 2 HOURS > '2026-01-01'": {"overflow": 1},
    "tags[0] = 'q'": {"array_index": 1},
    "s RLIKE p": {"pattern": 2},
    "s LIKE concat(p, '%', '\\\\')": {"pattern": 3},
    "s RLIKE '(ab|cd|ef){30}x'": {"regex_limit": 1},
    # what has a value in the end, and what is missing or null without an error
    "CASE WHEN b <> 0 THEN a / b ELSE 0 END >= 0": {},
    "coalesce(a / b, 1.0D) > 0": {},
    "nullif(a, 1) > 1": {},
    "array_contains(tags, 'x')": {},
    "1 / 0 > a": {},
    "a > 1 OR b = 0": {},
}


def counted(kind: str, *texts: str) -> tuple[dict[str, int], list[list[Any]]]:
    """The errors of a new index by reason, but for zeros, and its matches."""
    index = wc.Index(wc.Schema.from_dict(SCHEMA), kind)
    index.add_all(dict(enumerate(texts)))
    matches = index.match(ROWS).to_pylist()
    errors = index.stats()["row_errors"]
    assert tuple(errors) == REASONS
    return {reason: count for reason, count in errors.items() if count}, matches


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", CASES)
def test_errors_of_a_row_are_counted_by_reason(kind: str, text: str) -> None:
    errors, matches = counted(kind, text)
    assert errors == CASES[text]
    assert matches == counted("scan", text)[1]


WITHOUT_NUMBA = """
import json, sys
sys.modules["numba"] = None
from tests.unit.matching.test_row_errors import CASES, counted
print(json.dumps({text: counted(sys.argv[1], text)[0] for text in CASES}))
"""


@pytest.mark.parametrize("kind", ["columnar", "betree"])
def test_errors_are_counted_without_numba(kind: str) -> None:
    command = [sys.executable, "-c", WITHOUT_NUMBA, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == CASES


@pytest.mark.parametrize(("kind", "times"), [("columnar", 1), ("betree", 1), ("scan", 100)])
def test_a_formula_counts_as_often_as_it_is_computed(kind: str, times: int) -> None:
    errors, _ = counted(kind, *(f"a / b > {number}" for number in range(100)))
    assert errors == {"division_by_zero": 2 * times}


def test_a_formula_of_candidates_counts_once_for_all() -> None:
    """The kernel of programs leaves a division by zero to columns, which compute it once."""
    texts = [f"s = 'q' AND (x / y > {number}.5 OR b = 7)" for number in range(5)]
    assert counted("columnar", *texts)[0] == {"division_by_zero": 1}


def test_samples_of_publications_do_not_count_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from wherecast.matching.columnar import snapshot

    monkeypatch.setattr(snapshot, "_PLAIN_MAX", 0)  # so that trees are built, from a sample
    assert counted("columnar", "a / b > 1")[0] == {"division_by_zero": 2}


def test_an_index_counts_its_own_errors_while_others_match() -> None:
    schema = wc.Schema.from_dict({"a": "int", "b": "int"})
    indexes = [wc.Index(schema) for _ in range(4)]
    for number, index in enumerate(indexes):
        index.add("f", "a / b > 1" if number % 2 else "a + b > 1")

    def match(number: int) -> None:
        for _ in range(20):
            indexes[number % 4].match([{"a": 1, "b": 0}] * (number % 4))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(match, range(8)))
    found = [index.stats()["row_errors"]["division_by_zero"] for index in indexes]
    assert found == [0, 2 * 20, 0, 2 * 20 * 3]


def test_counts_of_several_threads_add_up() -> None:
    errors = RowErrors()

    def add(_: int) -> None:
        with counting(errors):
            for _ in range(1_000):
                count_errors("overflow")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert errors.counts()["overflow"] == 8_000
    count_errors("overflow")  # nobody counts here
    assert errors.counts()["overflow"] == 8_000


def test_a_saved_index_counts_anew(tmp_path: Any) -> None:
    index = wc.Index(wc.Schema.from_dict(SCHEMA))
    index.add("f", "a / b > 1")
    index.match(ROWS)
    index.save(tmp_path / "index")
    loaded = wc.Index.load(tmp_path / "index")
    assert loaded.stats()["row_errors"]["division_by_zero"] == 0
    loaded.match(ROWS)
    assert loaded.stats()["row_errors"]["division_by_zero"] == 2
