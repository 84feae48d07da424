import pyarrow as pa
import pytest

from wherecast.language.bulk.literals import Cut, cut, example_of, positions, shape_key
from wherecast.language.table.numbering import Numbering


def cut_of(*texts: str | None, **options: int) -> tuple[Cut, list[str]]:
    strings = Numbering()
    found = cut(pa.array(texts, pa.large_string()), strings.number, 1000, **options)
    return found, strings.things


def test_texts_that_differ_in_constants_have_one_shape() -> None:
    found, strings = cut_of("x > 1.5 AND s = 'a'", "x > 2.5 AND s = 'it\\'s'", "x > 3 AND s = 'a'")
    assert found.shapes.tolist() == [0, 0, 1]
    assert found.starts.tolist() == [0, 2, 4]
    assert found.literals.floats.tolist() == [1.5, 0, 2.5, 0, 3, 0]
    assert found.literals.ints.tolist() == [0, 0, 0, 0, 3, 0]
    assert [strings[n] for n in found.literals.strings[1::2]] == ["a", "it's", "a"]
    assert found.literals.lengths.tolist() == [3, 3, 3, 7, 1, 3]


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("no2 > 5", ["5"]),
        ("a.b2c = 5 AND `x 9` = 7", ["5", "7"]),
        ("x > -5", ["5"]),
        ("x > .5 AND x < 5. AND x <> 1e-5", [".5", "5.", "1e-5"]),
        ("s = 'a 5' AND t > \"6\"", ["'a 5'", '"6"']),
        ("s = 'it\\'s' AND x > 1", ["'it\\'s'", "1"]),
        ("s = 'it''s'", ["'it'", "'s'"]),
        ("ž9 = 5", ["5"]),
        ("x IN (1,2,3)", ["1", "2", "3"]),
    ],
)
def test_where_constants_are(text: str, constants: list[str]) -> None:
    assert list(positions(text).values()) == constants
    assert [text[place:][: len(c)] for place, c in positions(text).items()] == constants


def test_classes_tell_what_parses_otherwise() -> None:
    found, _ = cut_of("x > 1", "x > 1.0", "x > '1'", "x > 1234567890123456789", "x > 2")
    assert found.shapes.tolist() == [0, 1, 2, 3, 0]


def test_a_shape_has_an_example_that_has_this_shape() -> None:
    texts = ["x1 > .5 AND s = 'it\\'s'", "x IN (1, 2.5, 1234567890123456789)", "`a 1` = 5L"]
    found, _ = cut_of(*texts)
    examples = [example_of(key) for key in found.keys]
    assert examples[0] == "x1 > 1.5 AND s = '2001-01-01'"
    assert list(cut_of(*[e for e in examples if e])[0].keys) == list(found.keys)
    assert example_of(cut_of("x > 1e01e0")[0].keys[0]) is None


def test_names_with_digits_are_no_constants() -> None:
    found, _ = cut_of("a1 > 5", "a2 > 5", "a1 > 6")
    assert found.shapes.tolist() == [0, 1, 0]


def test_what_cannot_be_cut_is_read_alone() -> None:
    found, _ = cut_of("x > 1", None, "[x,>,1]", "s = '\x1f'", "s = '" + "a" * 1000 + "'", "x > 2")
    assert found.shapes.tolist() == [0, -1, -1, -1, -1, 0]


def test_a_number_that_a_double_cannot_hold_is_no_number() -> None:
    found, _ = cut_of("x > 1e-400", "x > 0.0", "x > 0e-400", "x > 1e400", "x > 1e-280")
    assert [str(value) for value in found.literals.floats] == ["nan", "0.0", "0.0", "inf", "1e-280"]


def test_the_key_of_a_shape_leaves_out_its_constants() -> None:
    assert shape_key("x > 1 AND s = 'a'") == shape_key("x > 22 AND s = ''")
    assert shape_key("x1 > 1") != shape_key("x2 > 1")
    assert shape_key(None) == ""


def test_chunks_share_their_shapes() -> None:
    texts = ["x > 1", None, "y1 > 'a' AND x > 2", "x > 3", "y1 > 'b' AND x > 4", "x"]
    whole, _ = cut_of(*texts)
    parts, _ = cut_of(*texts, chunk_bytes=8)
    assert parts.shapes.tolist() == whole.shapes.tolist() == [0, -1, 2, 0, 2, 3]
    assert parts.starts.tolist() == whole.starts.tolist() == [0, 1, 1, 3, 4, 6]
    assert list(parts.keys) == list(whole.keys)
    assert parts.literals.floats.tolist() == whole.literals.floats.tolist()
