"""The forms of shapes."""

from wherecast.language.bulk.filter_shapes import compile_shape
from wherecast.language.bulk.plain_forms import PlainForm, form_of
from wherecast.model import DEFAULT_LIMITS, Schema

SCHEMA = Schema.from_dict({"a": "int", "x": "float", "s": "string"})


def made(text: str, constants: int) -> PlainForm | None:
    shape = compile_shape(text, SCHEMA, DEFAULT_LIMITS)
    assert shape is not None
    return form_of(shape, SCHEMA, constants)


def test_sides_name_constants_and_what_is_added() -> None:
    form = made("x > 1 AND x < 2 AND a >= -3 AND s <> 'y'", 4)
    assert form is not None
    assert [attribute.name for attribute in form.attributes] == ["a", "x", "s"]
    assert form.sides == ((2, 0, -3, 0), (0, 1, 1, -1), (-5, 0, -5, 0))
    assert (form.texts, form.named, form.excepts) == ((2,), (3,), (False, False, True))
    assert form.kinds == ("float", "float", "int", "string")
    assert form.negative == (2,)
    assert form.packed is None


def test_floats_alone_are_packed() -> None:
    form = made("x BETWEEN 1 AND 2", 2)
    assert form is not None
    assert form.packed is not None
    assert [part.format for part in form.packed] == ["<2d", "<2q"]


def test_what_is_no_form() -> None:
    assert made("x > 1 OR x < 0", 2) is None
    assert made("x = 1 AND x = 2", 2) is None
    assert made("s BETWEEN 'a' AND 'b'", 2) is None
    assert made("x > 1", 2) is None
