import pytest

from wherecast.columns.json_outline import count_keys, depth_of, elements


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (b"{}", 0),
        (b'{"a":1,"a":2}', 2),
        (b'{"a" : {"b":1}, "c":[{"d":2}]}', 4),
        (b'{"a:b":": \\": ","c\\\\":"\\\\"}', 2),
        ('{"é":"\u2028:"}'.encode(), 1),
    ],
)
def test_keys_are_counted_as_written(text: bytes, keys: int) -> None:
    assert count_keys(text) == keys


def test_long_text_is_counted_right() -> None:
    text = b"[" + b",".join(b'{"t":"12:30"}' for _ in range(1000)) + b"]"
    assert count_keys(text) == 1000


@pytest.mark.parametrize(
    ("text", "depth"), [(b"1", 0), (b'"[[["', 0), (b'[{"a":[1]},2]', 3), (b"", 0)]
)
def test_depth_counts_objects_and_arrays(text: bytes, depth: int) -> None:
    assert depth_of(text) == depth


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"[]", []),
        (b" [ ] \n", []),
        (b"[1]", [b"1"]),
        (b'[{"a":[1,2]},{"b":"],["}, 3]', [b'{"a":[1,2]}', b'{"b":"],["}', b" 3"]),
        (b'["\\",", 2]', [b'"\\","', b" 2"]),
        (b"[1,]", [b"1", b""]),
    ],
)
def test_an_array_is_cut_into_its_elements(text: bytes, parts: list[bytes]) -> None:
    spans = elements(text)
    assert spans is not None
    assert [text[start:end] for start, end in spans] == parts


@pytest.mark.parametrize(
    "text", [b"", b"[", b"]", b"{}", b"[1", b"[1] [2]", b"[1]]", b"[[1]", b"1"]
)
def test_other_text_is_no_array(text: bytes) -> None:
    assert elements(text) is None
