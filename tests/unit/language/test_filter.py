import pickle
from datetime import date

import pytest

from wherecast.language import Filter
from wherecast.model import FilterError, Limits, PublicationError, Schema

SCHEMA = Schema.from_dict(
    {"no2": {"type": "float", "min": 0, "max": 1000}, "city": "string", "n.x": "int"}
)


def test_a_filter_keeps_its_text_and_schema_and_shows_itself() -> None:
    filter = Filter(" no2>40 ", SCHEMA)
    assert filter.text == " no2>40 "
    assert filter.schema is SCHEMA
    assert str(filter) == "no2 > 40.0"
    assert repr(filter) == "Filter(' no2>40 ')"


def test_publications_are_validated_before_they_are_matched() -> None:
    filter = Filter("no2 > 40", SCHEMA)
    assert filter.matches({"no2": 41})
    assert not filter.matches({"no2": 40})
    assert not filter.matches({})
    assert Filter("n.x = 1", SCHEMA).matches({"n": {"x": 1}})
    with pytest.raises(PublicationError, match="above its maximum"):
        filter.matches({"no2": 2000})


def test_filters_are_equal_where_their_expressions_and_schemas_are() -> None:
    filter = Filter("no2 > 40", SCHEMA)
    assert filter == Filter("40 < NO2", SCHEMA)
    assert hash(filter) == hash(Filter("40 < no2", SCHEMA))
    assert filter != Filter("no2 > 41", SCHEMA)
    assert filter != Filter("no2 > 40", Schema.from_dict({"no2": "float"}))
    assert filter != "no2 > 40"


def test_triples_make_the_same_filter() -> None:
    filter = Filter.from_triples([("no2", ">", 40), ("city", "=", "Split")], SCHEMA)
    assert filter == Filter("no2 > 40 AND city = 'Split'", SCHEMA)
    assert filter.text == "no2 > 40.0 AND city = 'Split'"


def test_a_warning_says_that_it_never_matches_and_why() -> None:
    assert Filter("no2 > 40", SCHEMA).warnings == ()
    for text, reason in (
        ("no2 > 50 AND no2 < 30", "no2 > 50.0 and no2 < 30.0 exclude each other"),
        ("no2 > 2000", "no value that no2 may have satisfies the filter"),
        ("no2 > 2000 OR city = NULL", "a comparison with NULL is never true"),
        ("city < ''", "no value that city may have satisfies the filter"),
        ("city BETWEEN 'a' AND 'a' AND city <> 'a'", "no value that city may have"),
    ):
        (warning,) = Filter(text, SCHEMA).warnings
        assert warning.startswith("can never match: ")
        assert reason in warning


def test_other_limits_may_be_given() -> None:
    with pytest.raises(FilterError, match="limit of 1 predicates"):
        Filter("no2 > 1 AND no2 < 9", SCHEMA, Limits(predicates_max=1))


@pytest.mark.parametrize("text", [None, 5, b"no2 > 1", ["no2 > 1"]])
def test_only_a_text_is_a_filter(text: object) -> None:
    with pytest.raises(FilterError, match="a filter is a text"):
        Filter(text, SCHEMA)  # type: ignore[arg-type]


def test_a_filter_travels_between_processes() -> None:
    filter = Filter("no2 > 40 AND city LIKE 'S%'", SCHEMA)
    assert pickle.loads(pickle.dumps(filter)) == filter


DECIMALS = Schema.from_dict(
    {"price": {"type": "decimal", "scale": 2}, "rate": {"type": "decimal", "scale": 6}}
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("price > 12.50", "price > 12.5"),
        ("price = 1.005", "price = 1.005"),
        ("price BETWEEN -1 AND 1e2", "price BETWEEN -1 AND 100"),
        ("rate IN (.000001, 2)", "rate IN (0.000001, 2)"),
        ("price < rate", "price < rate"),
    ],
)
def test_decimals_are_written_as_they_were_given(text: str, written: str) -> None:
    made = Filter(text, DECIMALS)
    assert str(made) == written
    assert Filter(written, DECIMALS) == made


def test_decimals_are_explained_as_numbers() -> None:
    told = Filter("price > 12.5 AND rate < 1", DECIMALS).explain({"price": 12.25, "rate": 0.5})
    assert str(told).splitlines() == [
        "false    price > 12.5   price = 12.25",
        "true     rate < 1       rate = 0.5",
        "It does not match: price > 12.5 is false (price = 12.25).",
    ]


def test_covering_of_decimals_is_exact() -> None:
    assert Filter("price > 1.004", DECIMALS).covers(Filter("price >= 1.01", DECIMALS))
    assert Filter("price >= 1.01", DECIMALS).covers(Filter("price > 1.004", DECIMALS))
    assert not Filter("price > 1.01", DECIMALS).covers(Filter("price > 1.004", DECIMALS))
    assert Filter("price = 1.005", DECIMALS).warnings == (
        "can never match: no value satisfies price = 1.005",
    )


def test_a_distance_takes_no_decimals() -> None:
    with pytest.raises(FilterError, match="price is decimal") as caught:
        Filter("geo_distance(price, rate, 45, 15) < 5", DECIMALS)
    assert caught.value.hint == "cast the column to double"


CLOCKS = Schema.from_dict({"day": "date", "local": "timestamp_ntz"})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("day = '2026-05-01'", "day = DATE '2026-05-01'"),
        ("day < TIMESTAMP '2026-05-01 12:00'", "day < TIMESTAMP '2026-05-01T12:00:00Z'"),
        ("local > '2026-05-01 12:00:00'", "local > TIMESTAMP '2026-05-01T12:00:00Z'"),
    ],
)
def test_dates_and_times_are_written_so_that_they_read_back(text: str, written: str) -> None:
    made = Filter(text, CLOCKS)
    assert str(made) == written
    assert Filter(written, CLOCKS) == made


def test_triples_take_dates_of_python() -> None:
    made = Filter.from_triples([("day", ">=", date(2026, 5, 1))], CLOCKS)
    assert made == Filter("day >= DATE '2026-05-01'", CLOCKS)
