"""Counters, compared with a loop over rows."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.contract.stores import headers_of
from wherecast.store.ids.counters import numbered

_ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b", "c"]),
        st.one_of(st.none(), st.none(), st.integers(1, 30)),
    ),
    min_size=1,
    max_size=20,
)


@given(_ROWS, st.dictionaries(st.sampled_from("abc"), st.integers(0, 20)))
def test_as_a_loop_would_number_them(
    rows: list[tuple[str | None, int | None]], before: dict[str, int]
) -> None:
    last = dict(before)
    for name, given_counter in rows:  # what came over a link was given before
        if name is not None and given_counter is not None:
            last[name] = max(last.get(name, 0), given_counter)
    expected = []
    for name, counter in rows:
        if name is not None and counter is None:
            counter = last[name] = last.get(name, 0) + 1
        expected.append(counter)
    headers = headers_of(publisher=[one for one, _ in rows], counter=[one for _, one in rows])
    found, lasts = numbered(headers, lambda names: [before.get(name, 0) for name in names])
    assert found.column("counter").to_pylist() == expected
    assert found.drop_columns("counter").equals(headers.drop_columns("counter"))
    named = {name for name, _ in rows if name is not None}
    assert lasts == {name: last[name] for name in named if name in last}
    assert named == lasts.keys()


def test_nobody_is_asked_about_publications_without_a_publisher() -> None:
    asked: list[Sequence[str]] = []
    headers = headers_of(id=["a", None])

    def last_of(names: Sequence[str]) -> list[int]:
        asked.append(names)
        return [0] * len(names)

    assert numbered(headers, last_of) == (headers, {})
    assert asked == []
