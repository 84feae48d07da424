from math import inf, nan
from typing import Any

import pytest

from wherecast.language import Explanation, Filter
from wherecast.model import PublicationError, Schema

AIR = Schema.from_dict(
    {"no2": "float", "count": "int", "city": "string", "seen": "timestamp", "ok": "bool",
     "lat": "float", "lon": "float"}
)  # fmt: skip
UNKNOWN = "It does not match, since it is unknown whether it holds:"
OPEN = Schema.from_dict({}, open=True)


def explain(text: str, publication: dict[str, Any], schema: Schema = AIR) -> Explanation:
    return Filter(text, schema).explain(publication)


def test_every_predicate_gets_a_verdict_and_the_value_it_saw() -> None:
    found = explain("no2 > 40 AND (city = 'Split' OR count < 3)", {"no2": 12.5, "city": "Split"})
    assert [(r.predicate, r.verdict, r.mark, r.seen) for r in found.reasons] == [
        ("no2 > 40.0", False, "false", {"no2": "12.5"}),
        ("city = 'Split'", True, "true", {"city": "'Split'"}),
        ("count < 3", None, "unknown", {"count": None}),
    ]
    assert not found.matched
    assert not found
    assert found.reasons[2].shown == "count is missing"


def test_the_text_shows_the_verdicts_in_columns_and_ends_with_the_sentence() -> None:
    assert str(explain("no2 > 40 AND city = 'Split'", {"no2": 45.0, "city": "Split"})) == (
        "true     no2 > 40.0       no2 = 45.0\n"
        "true     city = 'Split'   city = 'Split'\n"
        "It matches."
    )


@pytest.mark.parametrize(
    ("text", "publication", "sentence"),
    [
        ("no2 > 40", {"no2": 50}, "It matches."),
        ("no2 > 40", {"no2": 12}, "It does not match: no2 > 40.0 is false (no2 = 12.0)."),
        (
            "no2 > 40",
            {},
            f"{UNKNOWN} no2 > 40.0 is unknown (no2 is missing).",
        ),
        (
            "no2 > 40 AND count > 1 AND ok",
            {"no2": 1, "count": 1},
            "It does not match: no2 > 40.0 is false (no2 = 1.0), and 2 more are not true.",
        ),
        ("NOT (ok)", {"ok": True}, "It does not match: what holds is excluded by a NOT."),
        ("FALSE", {}, "It does not match: FALSE is false."),
        ("seen > '2026-05-01'", {"seen": "2026-05-02"}, "It matches."),
    ],
)
def test_one_plain_sentence(text: str, publication: dict[str, Any], sentence: str) -> None:
    assert explain(text, publication).sentence == sentence


def test_times_and_comparisons_of_attributes_show_what_was_seen() -> None:
    found = explain("seen > '2026-05-01' OR no2 < count", {"seen": "2026-04-30", "no2": 1.5})
    assert [reason.shown for reason in found.reasons] == [
        "seen = TIMESTAMP '2026-04-30T00:00:00Z'",
        "no2 = 1.5, count is missing",
    ]


def test_a_distance_shows_its_metres() -> None:
    found = explain("geo_distance(lat, lon, 45.8, 15.9) < 500", {"lat": 45.8, "lon": 16.0})
    assert found.reasons[0].seen["distance"] == "7752.1 m"


def test_an_explanation_as_json_has_verdict_sentence_reasons_and_plan() -> None:
    found = explain("no2 > 40 AND (ok OR count < 3)", {"no2": 12.5, "ok": True})
    assert found.to_dict() == {
        "matched": False,
        "sentence": found.sentence,
        "reasons": [
            {"predicate": "no2 > 40.0", "verdict": False, "seen": {"no2": "12.5"}},
            {"predicate": "ok = TRUE", "verdict": True, "seen": {"ok": "TRUE"}},
            {"predicate": "count < 3", "verdict": None, "seen": {"count": None}},
        ],
        "plan": {
            "indexed": ["no2 > 40.0 AND ok = TRUE", "no2 > 40.0 AND count < 3"],
            "checked": [],
            "formulas": [],
        },
    }


@pytest.mark.parametrize("place", [nan, inf, -inf])
def test_a_distance_from_nowhere_is_no_number(place: float) -> None:
    found = explain("geo_distance(lat, lon, 45.8, 15.9) > 5", {"lat": place, "lon": 1})
    assert found.matched  # as NaN metres are greater than every number
    assert found.reasons[0].seen["distance"] == "nan m"


def test_an_open_attribute_of_another_type_is_shown_and_unknown() -> None:
    found = explain("geo_distance(lat, lon, 1, 1) < 5 OR h > 2", {"lat": "a", "h": "tall"}, OPEN)
    assert [reason.mark for reason in found.reasons] == ["unknown", "unknown"]
    assert found.reasons[1].seen == {"h": "'tall'"}


def test_a_publication_that_is_refused_is_not_explained() -> None:
    with pytest.raises(PublicationError):
        explain("no2 > 40", {"nox": 1})
