"""The language benchmark: complete rows, and first matches that DuckDB proves."""

from typing import Any

import pytest

from wherecast.bench.language import experiment as language
from wherecast.bench.measured import WrongResult
from wherecast.model import ConfigError
from wherecast.workloads import alerts_or

READ = {"what", "filters", "seconds", "cpu seconds", "filters/s", "shapes", "rejected", "checksum"}


def measured(only: str, size: int) -> list[dict[str, Any]]:
    return list(language.rows(size, 3, only))


def test_alerts_or_is_read_to_the_first_match() -> None:
    pytest.importorskip("duckdb")
    by_shape, alone, first = measured("alerts_or", 20_000)
    assert by_shape.keys() >= READ
    assert alone.keys() >= READ
    assert (by_shape["shapes"], by_shape["rejected"]) == (1, 0)
    assert first["what"] == "alerts_or, to the first match"
    assert first["agrees with"] == "duckdb"
    assert first["matches"] > 0
    assert first["expected"] == pytest.approx(288)


def test_never_seen_shapes() -> None:
    *_, new = measured("mixed", 50)
    assert (new["what"], new["shapes"], new["filters"]) == ("never seen", 50, 50)
    assert new["ms per shape, p50"] <= new["ms, worst"]


def test_rules() -> None:
    by_shape, _, first, new = measured("rules", 1_000)
    assert by_shape["rejected"] == 0
    assert first["agrees with"] == "duckdb"
    assert first["matches"] > 0
    assert new["what"] == "rules, never seen"


def test_other_first_matches_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    forgetful = language.TEXT_PEERS["either"]["duckdb"]

    class Forgetful(forgetful):  # type: ignore[misc, valid-type]
        def match(self, batch: Any) -> Any:
            return super().match(batch).slice(1)

    monkeypatch.setattr(language, "TEXT_PEERS", {"either": {"duckdb": Forgetful}})
    with pytest.raises(WrongResult, match="to the first match"):
        language.to_first_match(alerts_or(), 500)


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean mixed"):
        measured("mixd", 10)
