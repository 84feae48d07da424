"""Breaking any one operator of the reference makes at least one conformance case fail."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.cases import FILES, Case, CaseFile, read_filter
from wherecast import FilterError, Index
from wherecast.language.meaning import comparing, evaluate, patterns

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
    tables: list[tuple[str, dict[Any, Entry]]] = [
        ("COMPARISONS", comparing.COMPARISONS),
        ("PATTERNS", patterns.PATTERNS),
        ("LEAVES", evaluate.LEAVES),
    ]
    for name, table in tables:
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
        self.publications: list[dict[str, Any]] = []
        self.expected: list[tuple[str, list[str]]] = []
        for number, case in enumerate(file.cases_for("reference")):
            own = f"{number}|"
            self.index.add_all((own + i, read_filter(f, schema)) for i, f in case.filters.items())
            for publication, ids in case.accepted():
                self.publications.append(publication)
                self.expected.append((own, [own + i for i in ids]))

    def fails(self) -> bool:
        """Whether a publication is matched by other filters of its case than expected."""
        try:
            found = self.index.match(self.publications).to_pylist()
        except FilterError:  # a pattern of one kind, read as another
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
