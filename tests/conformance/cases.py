"""The conformance cases: what a filter means, as data.

Every JSON file here but `errors.json` holds the cases of one schema:

    {"description": …, "schema": {…}, "open"?: true, "now"?: time, "skip"?: {runner: reason},
     "cases": [
      {"name": …, "filters": {id: filter}, "publications": [{…}], "expected": [[id, …], …],
       "skip"?: {runner: reason}}]}

A filter is a WHERE clause, PADRES notation (it starts with "[") or a list of triples. The ids that
match are listed per publication, sorted; `{"refused": code}` stands for a publication that the
schema refuses. `{"$float": "NaN"}` writes a float that JSON cannot. `now` is the value of `now()`.
The runners are `reference`, `spark` (the Spark face, batch and streaming), `sql` (the text itself
in Spark SQL) and `json` (anything that reads publications from JSON).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from wherecast import Filter, Schema

FOLDER = Path(__file__).resolve().parent
RUNNERS = {"reference", "spark", "sql", "json"}

FilterSource = str | list[tuple[str, str, Any]]


@dataclass(frozen=True)
class Refused:
    """A publication that the schema refuses, with the code of the problem."""

    code: str


@dataclass(frozen=True)
class Case:
    """A few filters, a few publications, and the ids that match each of them."""

    name: str
    filters: dict[str, FilterSource]
    publications: list[dict[str, Any]]
    expected: list[list[str] | Refused]
    skip: dict[str, str]

    def accepted(self) -> list[tuple[dict[str, Any], list[str]]]:
        """The publications that are not refused, each with the ids that match it."""
        pairs = zip(self.publications, self.expected, strict=True)
        return [(publication, ids) for publication, ids in pairs if not isinstance(ids, Refused)]

    def refused(self) -> list[tuple[dict[str, Any], str]]:
        """The publications that are refused, each with its code."""
        pairs = zip(self.publications, self.expected, strict=True)
        return [(publication, ids.code) for publication, ids in pairs if isinstance(ids, Refused)]


@dataclass(frozen=True)
class CaseFile:
    """The cases of one schema; `now` is the value of `now()` in their filters."""

    stem: str
    attributes: dict[str, Any]
    open: bool
    now: datetime | None
    skip: dict[str, str]
    cases: list[Case]

    def schema(self) -> Schema:
        """The schema as users make it."""
        return Schema.from_dict(self.attributes, open=self.open)

    def has_domains(self) -> bool:
        """Whether an attribute declares more than its type."""
        return any(attribute.has_domain for attribute in self.schema())

    def cases_for(self, runner: str) -> list[Case]:
        """The cases that apply to a runner."""
        return [case for case in self.cases if not self.reason_to_skip(case, runner)]

    def reason_to_skip(self, case: Case, runner: str) -> str | None:
        """Why a case does not apply to a runner; None where it does."""
        return case.skip.get(runner) or self.skip.get(runner)


def read_filter(source: FilterSource, schema: Schema) -> Filter:
    """The filter of a case, whatever its notation."""
    return (
        Filter(source, schema) if isinstance(source, str) else Filter.from_triples(source, schema)
    )


def load(path: Path) -> CaseFile:
    """The cases of one file."""
    data = json.loads(path.read_text(encoding="utf-8"), object_hook=_float)
    return CaseFile(
        stem=path.stem,
        attributes=data["schema"],
        open=data.get("open", False),
        now=datetime.fromisoformat(data["now"]) if "now" in data else None,
        skip=data.get("skip", {}),
        cases=[_case(case) for case in data["cases"]],
    )


def load_all() -> list[CaseFile]:
    """All cases, by file name."""
    return [load(path) for path in sorted(FOLDER.glob("*.json")) if path.stem != "errors"]


def check_cases(file: CaseFile, check: Callable[[Schema, Case], None]) -> None:
    """Runs a check on every case of a file that applies to the reference.

    All cases run; each failure carries the name of its case.
    """
    schema = file.schema()
    failures: list[BaseException] = []
    for case in file.cases_for("reference"):
        try:
            check(schema, case)
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  # raised below
            failure.add_note(f"in the case {file.stem}: {case.name}")
            failures.append(failure)
    if failures:
        names = ", ".join(failure.__notes__[-1] for failure in failures)
        raise BaseExceptionGroup(f"{len(failures)} cases fail: {names}", failures)


def _float(data: dict[str, Any]) -> Any:
    return float(data["$float"]) if data.keys() == {"$float"} else data


def _case(data: Mapping[str, Any]) -> Case:
    return Case(
        name=data["name"],
        filters={key: _source(filter_) for key, filter_ in data["filters"].items()},
        publications=data["publications"],
        expected=[Refused(e["refused"]) if isinstance(e, dict) else e for e in data["expected"]],
        skip=data.get("skip", {}),
    )


def _source(data: str | list[list[Any]]) -> FilterSource:
    return data if isinstance(data, str) else [(name, op, value) for name, op, value in data]


FILES = load_all()
EACH_FILE = [pytest.param(file, id=file.stem) for file in FILES]
