"""The conformance cases on the reference index and on single filters."""

import pytest

from tests.conformance.cases import (
    EACH_FILE,
    FILES,
    RUNNERS,
    Case,
    CaseFile,
    check_cases,
    read_filter,
)
from wherecast import Index, PublicationError, Schema


@pytest.mark.parametrize("file", EACH_FILE)
def test_index(file: CaseFile) -> None:
    def check(schema: Schema, case: Case) -> None:
        index = Index(schema, kind="scan")
        for id_, source in case.filters.items():
            index.add(id_, source if isinstance(source, str) else read_filter(source, schema))

        accepted = case.accepted()

        found = index.match([p for p, _ in accepted], file.now).to_pylist()
        assert found == [ids for _, ids in accepted]
        for publication, code in case.refused():
            with pytest.raises(PublicationError) as caught:
                index.match([publication])
            assert code in {problem.code for problem in caught.value.problems}

    check_cases(file, check)


@pytest.mark.parametrize("file", EACH_FILE)
def test_filter(file: CaseFile) -> None:
    def check(schema: Schema, case: Case) -> None:
        filters = {id_: read_filter(source, schema) for id_, source in case.filters.items()}

        for publication, expected in case.accepted():
            assert (
                sorted(i for i, f in filters.items() if f.matches(publication, file.now))
                == expected
            )
            explained = {i: f.explain(publication, file.now) for i, f in filters.items()}
            assert sorted(i for i, one in explained.items() if one.matched) == expected
        for publication, code in case.refused():
            with pytest.raises(PublicationError) as caught:
                schema.read(publication)
            assert code in {problem.code for problem in caught.value.problems}

    check_cases(file, check)


@pytest.mark.parametrize("file", EACH_FILE)
def test_a_printed_filter_means_the_same(file: CaseFile) -> None:
    def check(schema: Schema, case: Case) -> None:
        filters = {
            id_: read_filter(str(read_filter(source, schema)), schema)
            for id_, source in case.filters.items()
        }

        for publication, expected in case.accepted():
            assert (
                sorted(i for i, f in filters.items() if f.matches(publication, file.now))
                == expected
            )

    check_cases(file, check)


@pytest.mark.parametrize("file", EACH_FILE)
def test_all_filters_of_a_file_at_once(file: CaseFile) -> None:
    """One index holds every filter; each case finds its own ids among those of all others."""
    schema = file.schema()
    cases = file.cases_for("reference")
    index = Index(schema, kind="scan")
    index.add_all(
        (f"{number}|{id_}", source if isinstance(source, str) else str(read_filter(source, schema)))
        for number, case in enumerate(cases)
        for id_, source in case.filters.items()
    )

    for number, case in enumerate(cases):
        accepted = case.accepted()
        found = index.match([p for p, _ in accepted], file.now).to_pylist()
        own = [[i for i in ids if i.startswith(f"{number}|")] for ids in found]
        assert own == [[f"{number}|{id_}" for id_ in ids] for _, ids in accepted], case.name


def test_names_are_distinct_and_reasons_are_given() -> None:
    names = [case.name for file in FILES for case in file.cases]
    assert len(names) == len(set(names)) >= 200
    for file in FILES:
        for skip in (file.skip, *(case.skip for case in file.cases)):
            assert skip.keys() <= RUNNERS
            assert all(skip.values())


def test_every_case_is_complete() -> None:
    for file in FILES:
        for case in file.cases:
            assert case.filters, case.name
            assert len(case.publications) == len(case.expected), case.name
            for ids in case.accepted():
                assert ids[1] == sorted(ids[1]), case.name
                assert set(ids[1]) <= set(case.filters), case.name


def test_every_failing_case_is_named() -> None:
    def check(_schema: Schema, case: Case) -> None:
        assert case.name not in wrong

    file = FILES[0]
    wrong = [case.name for case in file.cases_for("reference")[1:3]]
    with pytest.raises(BaseExceptionGroup) as caught:
        check_cases(file, check)
    assert len(caught.value.exceptions) == 2
    assert all(f"in the case {file.stem}: {name}" in str(caught.value) for name in wrong)
