"""Breaking any one operator of the reference makes at least one conformance case fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.cases import FILES, Case, CaseFile, read_filter
from wherecast import FilterError, Index
from wherecast.language.meaning import evaluate
from wherecast.language.meaning.comparing import COMPARISONS
from wherecast.language.meaning.formula_kernels import KERNELS
from wherecast.language.meaning.functions.signature import Function
from wherecast.language.meaning.functions.table import FUNCTIONS
from wherecast.language.meaning.patterns import PATTERNS, PatternProblem
from wherecast.language.meaning.value_types import ValueType

Row = tuple[Case, dict[str, Any], list[str]]
Entry = Callable[..., bool | None]


def _not(true: Entry) -> Entry:
    def broken(*arguments: Any) -> bool | None:
        verdict = true(*arguments)
        return None if verdict is None else not verdict

    return broken


def _constant(value: bool | None) -> Callable[[Entry], Entry]:
    return lambda _: lambda *_: value


def _null_is(value: bool) -> Callable[[Entry], Entry]:
    def breaks(true: Entry) -> Entry:
        def broken(*arguments: Any) -> bool:
            verdict = true(*arguments)
            return value if verdict is None else verdict

        return broken

    return breaks


WRONG = {
    "the opposite": _not,
    "always true": _constant(True),
    "always false": _constant(False),
    "always unknown": _constant(None),
}
WRONG_ON_MISSING = {"unknown is true": _null_is(True), "unknown is false": _null_is(False)}
NEVER_UNKNOWN = {"Missing"}


def _mutants() -> list[Any]:
    """Each entry of each table, broken in each way, and taken for each of its neighbours."""
    mutants = []
    tables: dict[str, dict[Any, Any]] = {
        "COMPARISONS": COMPARISONS,
        "PATTERNS": PATTERNS,
        "LEAVES": evaluate.LEAVES,
    }
    for name, table in tables.items():
        for key, true in table.items():
            shown = getattr(key, "__name__", key)
            ways = {how: breaks(true) for how, breaks in WRONG.items()}
            if name == "LEAVES" and shown not in NEVER_UNKNOWN:
                ways |= {how: breaks(true) for how, breaks in WRONG_ON_MISSING.items()}
            if name != "LEAVES":
                ways |= {f"like {other}": table[other] for other in table if other != key}
            mutants += [
                pytest.param(table, key, broken, id=f"{name} {shown}: {how}")
                for how, broken in ways.items()
            ]
    return mutants


class Run:
    """All filters and publications of one file, read before anything is broken."""

    def __init__(self, file: CaseFile) -> None:
        schema = file.schema()
        self.index = Index(schema, kind="scan")
        self.now = file.now
        self.publications: list[dict[str, Any]] = []
        self.expected: list[tuple[str, list[str]]] = []
        for number, case in enumerate(file.cases_for("reference")):
            own = f"{number}|"
            self.index.add_all((own + i, read_filter(f, schema)) for i, f in case.filters.items())
            for publication, ids in case.accepted():
                self.publications.append(publication)
                self.expected.append((own, [own + i for i in ids]))

    def fails(self) -> bool:
        """Whether a publication is matched by other filters of its case than expected.

        A pattern that another kind of pattern refuses is a failure too.
        """
        try:
            found = self.index.match(self.publications, self.now).to_pylist()
        except (FilterError, PatternProblem):
            return True
        return any(
            [i for i in ids if i.startswith(own)] != expected
            for ids, (own, expected) in zip(found, self.expected, strict=True)
        )


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [Run(file) for file in FILES if file.cases_for("reference")]


def test_the_reference_passes_unbroken(runs: list[Run]) -> None:
    assert not any(run.fails() for run in runs)


@pytest.mark.parametrize(("table", "key", "broken"), _mutants())
def test_a_broken_entry_is_noticed(
    monkeypatch: pytest.MonkeyPatch, runs: list[Run], table: dict[Any, Any], key: Any, broken: Entry
) -> None:
    monkeypatch.setitem(table, key, broken)

    assert any(run.fails() for run in runs)


CAN_FAIL = {"+", "-", "*", "/", "%", "div", "negative", "abs", "floor", "ceil", "round", "later",
            "earlier", "element", "nullif"}  # fmt: skip
NOTHING = {"string": "", "bool": False}


def _null(function: Function) -> Function:
    return replace(function, apply=lambda *_: None)


def _shifted(function: Function) -> Function:
    """A value beside the right one: the next number, the other truth, a longer text, no element."""

    def apply(type_: ValueType, *arguments: Any) -> Any:
        value = function.apply(type_, *arguments)
        if value is None or isinstance(value, bool):
            return None if value is None else not value
        if isinstance(value, tuple):
            return ()
        return value + "~" if isinstance(value, str) else value + 1

    return replace(function, apply=apply)


def _first_argument(function: Function) -> Function:
    return replace(function, apply=lambda _, first, *others: first)


def _never_null(function: Function) -> Function:
    def apply(type_: ValueType, *arguments: Any) -> Any:
        value = function.apply(type_, *arguments)
        return NOTHING.get(type_.kind, 0) if value is None else value

    return replace(function, apply=apply)


def _wrong_functions() -> list[Any]:
    mutants = []
    for name, function in FUNCTIONS.items():
        ways = {"always NULL": _null, "a value beside": _shifted}
        if name in CAN_FAIL:
            ways["never NULL"] = _never_null
        if function.resolve.__name__ in ("_alike", "_ordered", "_strings", "_same"):
            ways["its first argument"] = _first_argument
        mutants += [
            pytest.param(name, breaks(function), id=f"{name}: {how}")
            for how, breaks in ways.items()
        ]
    return mutants


@pytest.mark.parametrize(("name", "broken"), _wrong_functions())
def test_a_broken_function_is_noticed(
    monkeypatch: pytest.MonkeyPatch, runs: list[Run], name: str, broken: Function
) -> None:
    monkeypatch.setitem(FUNCTIONS, name, broken)
    monkeypatch.delitem(KERNELS, name, raising=False)

    assert any(run.fails() for run in runs)
