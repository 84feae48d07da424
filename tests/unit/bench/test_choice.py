from collections.abc import Iterator
from pathlib import Path

import pytest

from wherecast import ConfigError
from wherecast.bench.choice import check_choice, rows_of
from wherecast.bench.progress import Doing, Row


def case(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    assert home.is_dir()
    yield {"size": size, "seed": seed, "home": home}


def test_one_case_or_all_run_each_in_its_own_place() -> None:
    cases = {"a": case, "b": case}
    every = [row for row in rows_of(cases, None, 5, 7) if isinstance(row, dict)]
    assert [(row["size"], row["seed"]) for row in every] == [(5, 7), (5, 7)]
    assert len({row["home"] for row in every}) == 2
    assert not any(row["home"].exists() for row in every)
    assert len(list(rows_of(cases, "b", None, 0))) == 1


def test_an_unknown_one_is_told_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown case lateny; did you mean latency"):
        check_choice("case", "lateny", ("latency", "spark"))
    with pytest.raises(ConfigError, match="unknown case x; there are latency, spark"):
        check_choice("case", "x", ("latency", "spark"))
    check_choice("case", None, ())
