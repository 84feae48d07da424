"""The conformance cases on the reference index and on single filters."""

import pytest

from tests.conformance.cases import FILES, RUNNERS, Case, CaseFile, each_case, read_filter
from wherecast import Index, PublicationError

EACH = [
    pytest.param(file, case, id=f"{file.stem}: {case.name}")
    for file, case in each_case("reference")
]


@pytest.mark.parametrize(("file", "case"), EACH)
def test_index(file: CaseFile, case: Case) -> None:
    schema = file.schema()
    index = Index(schema, kind="scan")
    for id_, source in case.filters.items():
        index.add(id_, source if isinstance(source, str) else read_filter(source, schema))

    accepted = case.accepted()

    assert index.match([p for p, _ in accepted]).to_pylist() == [ids for _, ids in accepted]
    for publication, code in case.refused():
        with pytest.raises(PublicationError) as caught:
            index.match([publication])
        assert code in {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize(("file", "case"), EACH)
def test_filter(file: CaseFile, case: Case) -> None:
    schema = file.schema()
    filters = {id_: read_filter(source, schema) for id_, source in case.filters.items()}

    for publication, expected in case.accepted():
        assert sorted(id_ for id_, f in filters.items() if f.matches(publication)) == expected
        assert (
            sorted(id_ for id_, f in filters.items() if f.explain(publication).matched) == expected
        )
    for publication, code in case.refused():
        with pytest.raises(PublicationError) as caught:
            schema.read(publication)
        assert code in {problem.code for problem in caught.value.problems}


@pytest.mark.parametrize(("file", "case"), EACH)
def test_a_printed_filter_means_the_same(file: CaseFile, case: Case) -> None:
    schema = file.schema()
    filters = {
        id_: read_filter(str(read_filter(source, schema)), schema)
        for id_, source in case.filters.items()
    }

    for publication, expected in case.accepted():
        assert sorted(id_ for id_, f in filters.items() if f.matches(publication)) == expected


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in FILES])
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
        found = index.match([publication for publication, _ in accepted]).to_pylist()
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
