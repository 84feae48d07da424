r"""RLIKE finds what Java finds in Spark's RLIKE, on random expressions and strings.

Left out is what the reference of filters lists: `\b` and `\B` beside letters that are not ASCII,
`$` and `\Z` beside a last `\r\n`, and expressions that are refused.
"""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from tests.property.regexes import Regexes
from tests.seeds import random_of
from wherecast import Index, Schema
from wherecast.model import FilterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

REGEXES, TEXTS = 200, 50
REFUSED_MAX = 0.35  # of the expressions: a property without case, or too large a program
SCHEMA = Schema.from_dict({"s": "string", "p": "string"})


def quoted(text: str) -> str:
    """A string as filters write it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def answers(spark: "SparkSession", regexes: list[str], texts: list[str]) -> npt.NDArray[np.bool_]:
    """Where Spark's RLIKE holds, bool [texts, regexes]."""
    left = spark.createDataFrame(list(enumerate(texts)), "t int, s string")
    right = spark.createDataFrame(list(enumerate(regexes)), "r int, p string")
    found = np.zeros((len(texts), len(regexes)), bool)
    for row in left.crossJoin(right).where("s RLIKE p").select("t", "r").collect():
        found[row.t, row.r] = True
    return found


def by_constants(regexes: list[str], texts: list[str]) -> npt.NDArray[np.bool_]:
    """Where a filter with the expression as a constant matches, bool [texts, regexes]."""
    index = Index(SCHEMA)
    index.add_all((number, f"s RLIKE {quoted(regex)}") for number, regex in enumerate(regexes))
    found = np.zeros((len(texts), len(regexes)), bool)
    for row, ids in enumerate(index.match([{"s": text} for text in texts]).to_pylist()):
        found[row, ids] = True
    return found


def by_attribute(regexes: list[str], texts: list[str]) -> npt.NDArray[np.bool_]:
    """Where a filter matches that takes the expression from the publication."""
    index = Index(SCHEMA)
    index.add(0, "s RLIKE p")
    pairs = pa.record_batch(
        {"s": np.repeat(texts, len(regexes)).tolist(), "p": list(regexes) * len(texts)}
    )
    matches = [len(ids) for ids in index.match(pairs).to_pylist()]
    return np.array(matches, bool).reshape(len(texts), len(regexes))


def deviates(regex: str, text: str) -> bool:
    has_end = regex.endswith(("$", r"\Z"))
    has_border = r"\b" in regex or r"\B" in regex
    return (has_end and text.endswith("\r\n")) or (has_border and not text.isascii())


def is_taken(regex: str) -> bool:
    try:
        Index(SCHEMA).add(0, f"s RLIKE {quoted(regex)}")
    except FilterError:
        return False
    return True


def test_rlike_finds_what_java_finds(spark: "SparkSession") -> None:
    draw = Regexes(random_of("regexes"))
    drawn = [draw.draw() for _ in range(REGEXES)]
    regexes = [regex for regex in drawn if is_taken(regex)]
    texts = [draw.text() for _ in range(TEXTS)]
    compared = np.array([[not deviates(regex, text) for regex in regexes] for text in texts])

    expected = answers(spark, regexes, texts)

    for found in (by_constants(regexes, texts), by_attribute(regexes, texts)):
        wrong = np.argwhere((found != expected) & compared)
        shown = [(regexes[r], texts[t], bool(expected[t, r])) for t, r in wrong[:10]]
        assert not shown
    assert len(regexes) >= (1 - REFUSED_MAX) * REGEXES
    assert compared.mean() > 0.6
    assert 0.1 < expected[compared].mean() < 0.9


def test_the_end_between_cr_and_lf_deviates(spark: "SparkSession") -> None:
    """As the reference of filters says."""
    regexes, texts = [r"a\s$", r"a\r$", r"a\r\n$", "a$"], ["a\r\n"]

    assert answers(spark, regexes, texts).tolist() == [[False, False, True, True]]
    assert by_constants(regexes, texts).tolist() == [[True, True, True, True]]
