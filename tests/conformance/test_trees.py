"""The conformance cases on the trees: one by one, and all filters of a file in one tree."""

import pytest

from tests.conformance.cases import EACH_FILE, Case, CaseFile, check_cases, read_filter
from wherecast import Index, Schema
from wherecast.matching.trees.betree.parameters import TreeParameters

pytestmark = pytest.mark.xdist_group("tree-kernels")  # see tests/conftest.py

TREES = ("betree", "forest")
SMALL = TreeParameters(leaf_max=2, leaf_min=1)  # so that few filters make many nodes


@pytest.mark.parametrize("file", EACH_FILE)
@pytest.mark.parametrize("kind", TREES)
def test_each_case(kind: str, file: CaseFile) -> None:
    def check(schema: Schema, case: Case) -> None:
        index = Index(schema, kind, SMALL if kind == "betree" else None)
        for id_, source in case.filters.items():
            index.add(id_, read_filter(source, schema))

        accepted = case.accepted()

        found = index.match([p for p, _ in accepted], file.now).to_pylist()
        assert found == [ids for _, ids in accepted]

    check_cases(file, check)


@pytest.mark.parametrize("file", EACH_FILE)
@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("removed", [False, True], ids=["all", "half removed"])
def test_all_filters_of_a_file_at_once(kind: str, file: CaseFile, removed: bool) -> None:
    schema = file.schema()
    cases = file.cases_for("reference")
    index = Index(schema, kind, SMALL if kind == "betree" else None)
    index.add_all(
        (f"{number}|{id_}", read_filter(source, schema))
        for number, case in enumerate(cases)
        for id_, source in case.filters.items()
    )
    if removed:
        index.remove_all(
            f"{number}|{id_}" for number, case in enumerate(cases) if number % 2
            for id_ in case.filters
        )  # fmt: skip
    expected = [
        (number, publication, ids)
        for number, case in enumerate(cases)
        if not (removed and number % 2)
        for publication, ids in case.accepted()
    ]

    found = index.match([publication for _, publication, _ in expected], file.now).to_pylist()

    own = [
        [str(i) for i in ids if str(i).startswith(f"{number}|")]
        for (number, _, _), ids in zip(expected, found, strict=True)
    ]
    assert own == [[f"{number}|{id_}" for id_ in ids] for number, _, ids in expected]
    assert not removed or not any(int(str(i).split("|")[0]) % 2 for ids in found for i in ids), (
        "a removed filter"
    )
