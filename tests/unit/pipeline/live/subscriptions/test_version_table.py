"""A version leads to its name, however far apart the versions are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.pipeline.live.subscriptions.version_table import VersionTable

LARGE = 2**62
near = st.sets(st.integers(0, 60))
far = st.sets(st.one_of(st.integers(0, 40), st.integers(10_000, 10_040), st.integers(0, LARGE)))


def table_of(versions: set[int]) -> VersionTable:
    ascending = np.array(sorted(versions), np.int64)
    return VersionTable(ascending, np.arange(len(versions), dtype=np.int32)[::-1].copy())


@given(st.one_of(near, far), far)
def test_every_version_has_its_name_and_no_other_has_one(
    versions: set[int], others: set[int]
) -> None:
    names = {version: len(versions) - 1 - n for n, version in enumerate(sorted(versions))}
    asked = sorted(versions | others | {-1, 0, LARGE})
    table = table_of(versions)
    found = table.names_of(np.array(asked, np.int64))
    assert found.tolist() == [names.get(version, -1) for version in asked]
    assert [table.name_of(version) for version in asked] == found.tolist()


@pytest.mark.parametrize("step", [1, 4, 5, 1_000])
def test_a_long_history_takes_no_more_room(step: int) -> None:
    table = table_of(set(range(7, 7 + 1_000 * step, step)))
    assert table._slots.nbytes <= 4 * 4 * 1_000 + 64
