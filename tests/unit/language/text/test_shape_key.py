import pytest

from tests.seeds import random_of
from wherecast.language.text.parser import parse
from wherecast.language.text.shape_key import shape_of
from wherecast.model import Limits


@pytest.mark.parametrize(
    ("text", "shape", "constants"),
    [
        ("no2 > 4 AND f12 < -.5e3", "no2 > @0 AND f12 < -@0", ["4", ".5e3"]),
        ("s IN ('a', 'b c')", "s IN (@', @')", ["'a'", "'b c'"]),
        ("a-5>3", "a-@0>@0", ["5", "3"]),
        ("2nd = 2 AND a.5b = 1", "2nd = @0 AND a.5b = @0", ["2", "1"]),
        ("x = 5L", "x = 5L", []),
        ("x > 1.5.5", "x > 1.5.5", []),
        ("t > DATE '2026-05-01'", "t > DATE @'", ["'2026-05-01'"]),
    ],
)
def test_shapes(text: str, shape: str, constants: list[str]) -> None:
    assert shape_of(text) == (shape.replace("@", "\x1f"), constants)


@pytest.mark.parametrize(
    "text",
    [
        'a = "b"', "`a` = 1", r"a = '\n'", "a = 1 -- b", "a = /* b */ 1", "a = 'it''s'", "a = ''",
        "a = 'b' 'c'", "a = 'b'\n'c'", "a = 'b", "a = r'b'", "a = X'41'", "a > INTERVAL '1' DAY",
        "a::decimal(10, 2) > 1", "CAST(a AS decimal(10,2)) > 1", "a = '\x1f'",
    ],
)  # fmt: skip
def test_texts_that_are_read_alone(text: str) -> None:
    assert shape_of(text) is None


def test_constants_are_the_literals_of_the_parser() -> None:
    rng = random_of("shapes")
    pieces = [
        "a = 'x'",
        "f12 > 2.5",
        "b < -3",
        "2nd >= 1e5",
        "c IN (1, 'b', .5)",
        "d IS NULL",
        "e BETWEEN 1 AND 2",
        "lower(s) LIKE 'a%'",
        "a + 1 > b * 2",
        "t > DATE '2026-05-01'",
    ]
    for _ in range(300):
        text = " AND ".join(rng.choice(pieces) for _ in range(rng.randint(1, 5)))
        found = shape_of(text)
        assert found is not None
        words = [step.argument for step in parse(text, Limits()) if step.code == "literal"]
        assert [constant.strip("'") for constant in found[1]] == [word.text for word in words]
