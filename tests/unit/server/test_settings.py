"""The page of settings names every one, with its default."""

import re
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

from wherecast.model import format_duration
from wherecast.server.settings import Settings

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "server-settings.md"


def shown(value: object) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_page_is_complete() -> None:
    listed = re.findall(r"^\| `(\w+\.\w+)` \| `?([^|`]*)`? \|", PAGE.read_text(), re.MULTILINE)
    settings = Settings()
    wanted = [
        (f"{section.name}.{key.name}", shown(getattr(getattr(settings, section.name), key.name)))
        for section in fields(Settings)
        for key in fields(getattr(settings, section.name))
    ]
    assert [(name, default.strip()) for name, default in listed] == wanted
