"""The key of a string, beside that which a column of strings gets."""

import pyarrow as pa
import pytest

from wherecast.matching.columnar.one_row.text_keys import TextKeys
from wherecast.matching.columnar.slots import string_keys

STRINGS = pa.array(["", "a", "ab", "b", "é", "日本"], pa.large_string())


def test_a_key_is_that_of_a_column() -> None:
    texts = ["", "a", "aa", "ab", "abc", "b", "e", "é", "z", "日", "日本", "😀", "\uffff"]
    keys, column = TextKeys(STRINGS), pa.array(texts, pa.large_string())
    expected = string_keys(column, STRINGS).tolist()
    assert [keys[text] for text in texts] == expected
    assert [keys[text] for text in texts] == expected
    assert TextKeys(pa.array([], pa.large_string()))["a"] == 0


def test_a_lone_surrogate_has_no_key() -> None:
    with pytest.raises(UnicodeEncodeError):
        TextKeys(STRINGS)["\ud800"]
