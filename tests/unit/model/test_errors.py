import pickle

import pytest

from wherecast.model import (
    AcknowledgementError,
    ConfigError,
    FilterError,
    Problem,
    PublicationError,
    SchemaError,
    WherecastError,
)
from wherecast.model.errors import reason_of


def test_all_errors_are_of_one_tree() -> None:
    for error in (AcknowledgementError, ConfigError, FilterError, PublicationError, SchemaError):
        assert issubclass(error, WherecastError)


def test_a_filter_error_says_what_where_and_what_to_write() -> None:
    error = FilterError("unknown attribute no", 19, "did you mean no2?")
    assert str(error) == "unknown attribute no (at position 19); did you mean no2?"
    assert str(FilterError("the filter is null")) == "the filter is null"


def test_problems_are_joined_in_one_line() -> None:
    error = PublicationError([Problem("a", "first"), Problem("b", "second", "x")])
    assert str(error) == "first; second"
    assert SchemaError("no such file").problems == (Problem("malformed", "no such file"),)


@pytest.mark.parametrize(
    "error",
    [
        FilterError("m", 3, "h", "limit"),
        AcknowledgementError("m", "c", "limit"),
        PublicationError([Problem("a", "first", "x")]),
        SchemaError("x"),
        ConfigError("x"),
    ],
)
def test_errors_travel_between_processes(error: WherecastError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (FileNotFoundError("the bucket\nis not there"), "the bucket"),
        (ValueError("a\nb"), "a"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_the_reason_of_an_error_is_one_line(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason
