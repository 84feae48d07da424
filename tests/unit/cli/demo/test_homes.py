"""The many filters of the demo: the WHERE clauses and the bounds say the same."""

from wherecast.cli.demo import homes
from wherecast.matching import Index
from wherecast.model import Schema

SCHEMA = Schema.from_dict({"no2": "float", "lat": "float", "lon": "float"})


def test_the_first_rows_are_drawn_from_a_seed() -> None:
    assert homes.filters(50).equals(homes.filters(50))
    assert homes.readings(50).equals(homes.readings(50))


def test_filters_match_the_readings_within_their_bounds() -> None:
    filters, readings = homes.filters(2_000).to_pylist(), homes.readings(300).to_pylist()
    index = Index(SCHEMA)
    index.add_all((f["id"], f["filter"]) for f in filters)
    expected = [
        [
            f["id"]
            for f in filters
            if r["no2"] > f["no2_above"]
            and f["lat_low"] <= r["lat"] <= f["lat_high"]
            and f["lon_low"] <= r["lon"] <= f["lon_high"]
        ]
        for r in readings
    ]
    rows = [{name: r[name] for name in SCHEMA.names} for r in readings]
    assert [sorted(row) for row in index.match(rows).to_pylist()] == expected
    assert sum(map(len, expected)) > 10
