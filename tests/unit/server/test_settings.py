"""The page of settings names every one, with its default; the settings load quickly."""

import re
import subprocess
import sys
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from wherecast.matching.kinds import KINDS
from wherecast.model import ConfigError, format_duration
from wherecast.pipeline.live.live_options import DEFAULT_OPTIONS, LiveOptions, Trigger
from wherecast.server.settings import KEYS, IndexKind, PipelineSettings, Settings
from wherecast.server.settings_sources import load_settings

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "server-settings.md"


def shown(value: object) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_page_is_complete() -> None:
    listed = re.findall(r"^\| `(\w+\.\w+)` \| `?([^|`]*)`? \|", PAGE.read_text(), re.MULTILINE)
    settings = Settings()
    wanted = [
        (f"{section}.{key}", shown(reduce(getattr, path, settings)))
        for section, keys in KEYS.items()
        for key, path in keys.items()
    ]
    assert [(name, default.strip()) for name, default in listed] == wanted


def test_an_unknown_kind_of_index_is_refused_and_the_nearest_named() -> None:
    assert load_settings(None, {}, {"pipeline": {"index": "forest"}}).pipeline.index == "forest"
    wanted = r"pipeline.index is columnar or .*, not the string 'colunar'; did you mean columnar\?"
    with pytest.raises(ConfigError, match=wanted):
        load_settings(None, {}, {"pipeline": {"index": "colunar"}})


def test_the_kinds_of_index_are_those_that_there_are() -> None:
    assert get_args(IndexKind) == KINDS


def test_the_triggers_are_those_that_there_are() -> None:
    given = {"pipeline": {"trigger": "slices", "slice": "30s", "backlog": 7, "stall": "1m"}}
    found = load_settings(None, {}, given).pipeline
    assert (found.trigger, found.slice, found.backlog) == ("slices", timedelta(seconds=30), 7)
    assert get_args(get_type_hints(PipelineSettings)["trigger"]) == get_args(Trigger)
    defaults = PipelineSettings()
    assert (
        LiveOptions(
            trigger=defaults.trigger,
            slice_s=defaults.slice.total_seconds(),
            backlog=defaults.backlog,
            stall_s=defaults.stall.total_seconds(),
        )
        == DEFAULT_OPTIONS
    )


def test_settings_are_read_without_large_libraries() -> None:
    """The supervisor reads them, and stays small."""
    code = "import sys, wherecast.server.settings_sources; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "False\n"
