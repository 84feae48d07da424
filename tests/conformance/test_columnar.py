"""The conformance cases on the columnar index: on whole columns, and through its trees."""

import pytest

from tests.conformance.cases import EACH_FILE, Case, CaseFile, check_cases, read_filter
from tests.ways import WAYS, take
from wherecast import Index, Schema

pytestmark = pytest.mark.xdist_group("column-kernels")  # see tests/conftest.py


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which of the ways of matching is taken, whatever the amount of work."""
    way: str = request.param
    take(way, monkeypatch)
    return way


@pytest.mark.parametrize("file", EACH_FILE)
def test_each_case(file: CaseFile) -> None:
    def check(schema: Schema, case: Case) -> None:
        index = Index(schema, kind="columnar")
        index.add_all((id_, read_filter(source, schema)) for id_, source in case.filters.items())

        accepted = case.accepted()

        found = index.match([p for p, _ in accepted], file.now).to_pylist()
        assert found == [ids for _, ids in accepted]

    check_cases(file, check)


@pytest.mark.parametrize("file", EACH_FILE)
def test_all_filters_of_a_file_at_once(file: CaseFile, way: str) -> None:
    schema = file.schema()
    cases = file.cases_for("reference")
    index = Index(schema, kind="columnar")
    index.add_all(
        (f"{number}|{id_}", read_filter(source, schema))
        for number, case in enumerate(cases)
        for id_, source in case.filters.items()
    )
    expected = [
        (number, publication, ids)
        for number, case in enumerate(cases)
        for publication, ids in case.accepted()
    ]

    found = index.match([publication for _, publication, _ in expected], file.now).to_pylist()

    own = [
        [str(i) for i in ids if str(i).startswith(f"{number}|")]
        for (number, _, _), ids in zip(expected, found, strict=True)
    ]
    assert own == [[f"{number}|{id_}" for id_ in ids] for number, _, ids in expected]
