import numpy as np

from wherecast import Filter, Schema
from wherecast.columns import decode_rows
from wherecast.matching.ids import Ids
from wherecast.matching.scan import ScanIndex
from wherecast.model import FilterError

SCHEMA = Schema.from_dict({"a": "int", "s": "string"})


def test_every_filter_is_evaluated_on_every_publication() -> None:
    index = ScanIndex(SCHEMA)
    texts = {"x": "a > 1", "y": "NOT (a > 1)", "z": "a IS NULL OR s = 'q'"}
    index.add_all(Ids.of(list(texts)), index.read(list(texts.values())), None)
    rows = [{"a": 2}, {"a": 1, "s": "q"}, {}]
    found = index.match(decode_rows(rows, SCHEMA).batch)
    for row, ids in zip(rows, found.to_pylist(), strict=True):
        assert ids == [id for id, text in texts.items() if Filter(text, SCHEMA).matches(row)]
    assert found.offsets.dtype == np.int64
    assert found.indices.dtype == np.int32


def test_reading_gives_filters_or_errors() -> None:
    read = ScanIndex(SCHEMA).read(["a > 1", "a >", Filter("a = 1", SCHEMA)])
    assert [type(result) for result in read.results] == [Filter, FilterError, Filter]
    assert [row for row, _ in read.rejected] == [1]
