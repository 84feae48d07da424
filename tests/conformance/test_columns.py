"""The conformance cases through JSON, NDJSON and nested Arrow columns, on the reference index."""

import json
from typing import Any

import pytest

from tests.conformance.cases import FILES, Case, CaseFile, Refused, read_filter
from tests.conformance.frames import publications_table
from wherecast import Index
from wherecast.columns import Decoded, decode_json, decode_ndjson, read_arrow

EACH_FILE = [pytest.param(file, id=file.stem) for file in FILES if file.cases_for("json")]
EACH_TABLE = [pytest.param(file, id=file.stem) for file in FILES if file.cases_for("spark")]


def _publications(cases: list[Case]) -> list[dict[str, Any]]:
    return [publication for case in cases for publication in case.publications]


def _check(file: CaseFile, cases: list[Case], decoded: Decoded) -> None:
    """Good rows match as expected; exactly the refused ones are rejected, with their codes."""
    schema = file.schema()
    index = Index(schema, kind="scan")
    for number, case in enumerate(cases):
        index.add_all((f"{number}|{i}", read_filter(f, schema)) for i, f in case.filters.items())
    expected = [(number, ids) for number, case in enumerate(cases) for ids in case.expected]
    found = index.match(decoded.batch, file.now).to_pylist()

    matched = {
        row: [i for i in ids if i.startswith(f"{expected[row][0]}|")]
        for row, ids in zip(decoded.rows.tolist(), found, strict=True)
    }
    assert matched == {
        row: [f"{number}|{i}" for i in ids]
        for row, (number, ids) in enumerate(expected)
        if not isinstance(ids, Refused)
    }
    assert {bad.row: bad.code for bad in decoded.rejected} == {
        row: ids.code for row, (_, ids) in enumerate(expected) if isinstance(ids, Refused)
    }


@pytest.mark.parametrize("file", EACH_FILE)
def test_json(file: CaseFile) -> None:
    cases = file.cases_for("json")
    body = json.dumps(_publications(cases)).encode()

    _check(file, cases, decode_json(body, file.schema()))


@pytest.mark.parametrize("file", EACH_FILE)
def test_ndjson(file: CaseFile) -> None:
    cases = file.cases_for("json")
    lines = [json.dumps(p, ensure_ascii=False) for p in _publications(cases)]

    _check(file, cases, decode_ndjson("\n".join(lines).encode(), file.schema()))


@pytest.mark.parametrize("file", EACH_TABLE)
def test_arrow(file: CaseFile) -> None:
    cases = file.cases_for("spark")
    table = publications_table(file, cases).drop_columns(["case_number", "row_number"])

    _check(file, cases, read_arrow(table, file.schema()))
