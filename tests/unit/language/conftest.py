from typing import Any

import pytest

from wherecast.language import read


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that are read one by one."""
    rows: list[int] = []
    real = read.read_alone

    def note(row: int, *rest: Any) -> None:
        rows.append(row)
        real(row, *rest)

    monkeypatch.setattr(read, "read_alone", note)
    return rows
