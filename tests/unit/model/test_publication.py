from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from wherecast.model import ConfigError, Limits, Publication, PublicationError

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
WHOLE = {
    "attributes": {"no2": 41.5, "sensor": {"id": "s"}},
    "id": "p1",
    "payload": "aGVsbG8=",
    "valid_for": "1h",
    "published_at": "2026-05-01T12:00:00Z",
}


def test_an_object_is_read_and_written() -> None:
    publication = Publication.from_dict(WHOLE)
    assert publication == Publication(WHOLE["attributes"], "p1", b"hello", NOON, HOUR)  # type: ignore[arg-type]
    assert publication.to_dict() == WHOLE


def test_only_attributes_are_needed() -> None:
    publication = Publication.from_dict({"attributes": {}})
    assert publication == Publication({})
    assert publication.to_dict() == {"attributes": {}}


def test_it_is_valid_up_to_but_without_its_end() -> None:
    publication = Publication({}, published_at=NOON, valid_for=HOUR)
    assert publication.valid_until() == NOON + HOUR
    assert publication.is_valid(NOON + HOUR - timedelta(microseconds=1))
    assert not publication.is_valid(NOON + HOUR)


def test_without_a_time_of_its_own_validity_counts_from_acceptance() -> None:
    publication = Publication({}, valid_for=HOUR)
    assert publication.valid_until(NOON) == NOON + HOUR
    assert not publication.is_valid(NOON + HOUR, accepted_at=NOON)
    with pytest.raises(ConfigError, match="needs the time"):
        publication.is_valid(NOON)


def test_without_validity_it_never_ends() -> None:
    assert Publication({}).valid_until() is None
    assert Publication({}).is_valid(NOON)


def test_a_validity_beyond_the_calendar_has_no_end() -> None:
    publication = Publication.from_dict(WHOLE | {"valid_for": "99999999d"})
    assert publication.valid_until() is None
    assert publication.is_valid(NOON)


def test_every_problem_is_reported_at_once() -> None:
    bad: dict[str, Any] = {
        "attributes": [], "id": "", "payload": "%", "valid_for": "soon", "published_at": "now",
        "playload": "",
    }  # fmt: skip
    with pytest.raises(PublicationError) as caught:
        Publication.from_dict(bad)
    assert [problem.code for problem in caught.value.problems] == [
        "unknown_key", "wrong_type", "wrong_type", "malformed", "bad_time", "malformed",
    ]  # fmt: skip
    assert "unknown key playload; did you mean payload?" in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        None, [], "x", 5, {}, {"attributes": None}, {"attributes": "x"},
        {"attributes": {}, "id": 5}, {"attributes": {}, "id": "x" * 257},
        {"attributes": {}, "payload": 5}, {"attributes": {}, "payload": "ž"},
        {"attributes": {}, "published_at": 5}, {"attributes": {}, "published_at": "2026-02-30"},
        {"attributes": {}, "valid_for": 5}, {"attributes": {}, "valid_for": "0s"},
        {"attributes": {}, "valid_for": {}}, {"attributes": {}, 5: 1},
    ],
)  # fmt: skip
def test_what_is_no_publication(given: Any) -> None:
    with pytest.raises(PublicationError):
        Publication.from_dict(given)


def test_a_payload_above_its_limit_is_refused() -> None:
    with pytest.raises(PublicationError, match="payload has 5 bytes, the limit is 4"):
        Publication.from_dict(WHOLE, Limits(payload_bytes_max=4))
