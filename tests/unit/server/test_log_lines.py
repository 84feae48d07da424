"""A record of the log is one line, for people or for machines."""

import json
import logging
import sys

from wherecast.server.log_lines import JsonFormatter, TextFormatter


def record(message: str, *args: object, with_error: bool = False) -> logging.LogRecord:
    error = None
    if with_error:
        try:
            raise ValueError("broken")
        except ValueError:
            error = sys.exc_info()
    made = logging.LogRecord("wherecast", logging.WARNING, __file__, 1, message, args, error)
    made.created = 1_780_000_000.25
    return made


def test_a_line_for_people_has_time_level_and_message() -> None:
    line = TextFormatter().format(record("%d publications\nwere left out", 3))
    assert line == "2026-05-28T20:26:40.250Z warning wherecast: 3 publications were left out"


def test_a_line_for_machines_is_one_object() -> None:
    line = JsonFormatter().format(record("no space left on %s", "ž"))
    assert json.loads(line) == {
        "at": "2026-05-28T20:26:40.250Z",
        "level": "warning",
        "name": "wherecast",
        "message": "no space left on ž",
    }


def test_an_error_brings_its_trace() -> None:
    assert "ValueError: broken" in TextFormatter().format(record("failed", with_error=True))
    line = JsonFormatter().format(record("failed", with_error=True))
    assert "\n" not in line
    assert "ValueError: broken" in json.loads(line)["trace"]
