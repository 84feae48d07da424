"""The page of settings names every one, with its default."""

import re
from datetime import timedelta
from functools import reduce
from pathlib import Path

from wherecast.model import format_duration
from wherecast.server.settings import KEYS, Settings

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
