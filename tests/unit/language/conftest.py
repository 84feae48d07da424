from typing import Any

import pytest

from wherecast.language.bulk import read_column


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that are read one by one."""
    rows: list[int] = []
    real = read_column.read_alone

    def note(row: int, *rest: Any) -> None:
        rows.append(row)
        real(row, *rest)

    monkeypatch.setattr(read_column, "read_alone", note)
    return rows
