from datetime import UTC, datetime, timedelta

from wherecast.model import Subscription

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_it_acts_from_its_start_up_to_but_without_its_end() -> None:
    subscription = Subscription("s1", "no2 > 40", "ana", starts_at=NOON, valid_for=HOUR)
    assert not subscription.is_active(NOON - timedelta(microseconds=1))
    assert subscription.is_active(NOON)
    assert subscription.is_active(NOON + HOUR - timedelta(microseconds=1))
    assert not subscription.is_active(NOON + HOUR)


def test_without_times_it_always_acts() -> None:
    assert Subscription("s1", "TRUE").is_active(NOON)
    assert Subscription("s1", "TRUE", starts_at=NOON).is_active(NOON + 1000 * HOUR)


def test_a_validity_beyond_the_calendar_has_no_end() -> None:
    long = Subscription("s1", "TRUE", starts_at=NOON, valid_for=timedelta(days=99_999_999))
    assert long.is_active(NOON + 1000 * HOUR)


def test_it_listens_to_the_default_stream() -> None:
    assert Subscription("s1", "TRUE").stream == "default"
