import pytest

from wherecast.model.names import did_you_mean, folded, nearest


@pytest.mark.parametrize(
    ("name", "expected"),
    [("no", "no2"), ("NO2", "no2"), ("ctiy", "city"), ("CTIY", "city"), ("pressure", None)],
)
def test_the_nearest_name(name: str, expected: str | None) -> None:
    assert nearest(name, ["no2", "city", "count"]) == expected


def test_a_hint_is_a_question() -> None:
    assert did_you_mean("ctiy", ["city"]) == "did you mean city?"
    assert did_you_mean("x", []) is None


def test_folding_keeps_only_what_is_unique() -> None:
    assert folded(["a", "A", "b", "Straße"]) == {"a": None, "b": "b", "strasse": "Straße"}


def test_many_or_long_names_stay_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def count(name: str, known: list[str], **_: object) -> list[str]:
        compared.append(len(name) * sum(map(len, known)))
        return []

    monkeypatch.setattr("wherecast.model.names.get_close_matches", count)
    nearest("a1", [f"{letter}{n}" for letter in "abcdefghij" for n in range(1000)])
    nearest("x" * 100_000, ["a" * 1000] * 100)
    assert sum(compared) < 100_000
