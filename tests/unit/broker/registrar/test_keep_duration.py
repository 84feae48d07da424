from datetime import timedelta
from typing import Any

import pytest

from wherecast.broker.registrar.keep_duration import read_keep, write_keep
from wherecast.model import ConfigError


def test_there_and_back() -> None:
    assert read_keep("1h") == read_keep(timedelta(hours=1)) == 3_600_000_000
    assert read_keep("0s") == read_keep(timedelta(0)) == 0
    assert read_keep("36500d") == 36_500 * 86_400_000_000
    assert (write_keep(0), write_keep(3_600_000_000)) == (None, "1h")


@pytest.mark.parametrize(
    "keep",
    ["", "1", 1, True, "-1s", "1 hour", "forever", "36501d", "9" * 15 + "d", timedelta(seconds=-1)],
)
def test_what_cannot_be_kept(keep: Any) -> None:
    with pytest.raises(ConfigError, match=r"keep: .* is (not|longer|too long)"):
        read_keep(keep)
