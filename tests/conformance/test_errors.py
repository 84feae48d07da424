"""Bad filters, schemas and publications get a clear error that names the place."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.cases import FOLDER
from wherecast import Filter, FilterError, PublicationError, Schema, SchemaError

DATA = json.loads((FOLDER / "errors.json").read_text(encoding="utf-8"))
SCHEMA = Schema.from_dict(DATA["schema"])


def _each(key: str) -> list[Any]:
    return [pytest.param(case, id=case["name"]) for case in DATA[key]]


def _read(case: dict[str, Any]) -> Filter:
    if "triples" in case:
        return Filter.from_triples([tuple(triple) for triple in case["triples"]], SCHEMA)
    text = case["filter"]
    if isinstance(text, list):
        text = "".join(piece * times for piece, times in text)
    return Filter(text, SCHEMA)


@pytest.mark.parametrize("case", _each("filters"))
def test_filter(case: dict[str, Any]) -> None:
    with pytest.raises(FilterError) as caught:
        _read(case)

    error = caught.value
    assert case["error"] in error.message
    assert error.message
    assert len(str(error)) < 500
    if "position" in case:
        assert error.position == case["position"]
    if "hint" in case:
        assert case["hint"] in (error.hint or "")


@pytest.mark.parametrize("case", _each("warnings"))
def test_warning(case: dict[str, Any]) -> None:
    """A filter that can never match is accepted, with the reason."""
    warnings = _read(case).warnings

    assert len(warnings) == 1
    assert "can never match" in warnings[0]
    assert case["warning"] in warnings[0]


@pytest.mark.parametrize("case", _each("schemas"))
def test_schema(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / case.get("file", "")
    if case.get("text") is not None:
        path.write_text(case["text"], encoding="utf-8")

    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(case["schema"]) if "schema" in case else Schema.load(path)

    assert case["error"] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", _each("publications"))
def test_publication(case: dict[str, Any]) -> None:
    with pytest.raises(PublicationError) as caught:
        SCHEMA.read(case["publication"])

    problems = [(problem.code, problem.attribute) for problem in caught.value.problems]
    assert (case["code"], case.get("attribute")) in problems


def test_good_neighbours_of_bad_filters_have_no_warning() -> None:
    for text in ("no2 > 5 AND no2 < 6", "count > 2 AND count < 4", "level LIKE 'l%'", "TRUE"):
        assert Filter(text, SCHEMA).warnings == ()
