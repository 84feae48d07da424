"""LIKE without escapes means what it means in DuckDB."""

from random import Random

import duckdb

from tests.seeds import run_seed
from wherecast.language.meaning.patterns import like


def test_like_without_escapes_agrees_with_duckdb() -> None:
    rng = Random(run_seed())
    cases = [
        (
            "".join(rng.choices("abé😀\n", k=rng.randint(0, 20))),
            "".join(rng.choices("abé😀\n%%__", k=rng.randint(0, 8))),
        )
        for _ in range(20_000)
    ]
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        said = connection.execute(
            "SELECT value LIKE pattern FROM (SELECT unnest($1) AS value, unnest($2) AS pattern)",
            [[value for value, _ in cases], [pattern for _, pattern in cases]],
        ).fetchall()
    for (value, pattern), (answer,) in zip(cases, said, strict=True):
        assert like(value, pattern, "\\") == answer, (value, pattern)
    assert 1_000 < sum(answer for (answer,) in said) < 19_000
