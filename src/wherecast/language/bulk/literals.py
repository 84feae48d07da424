"""A column of filter texts cut into shapes and constants, without a loop over the rows.

The shape of a text is the text with each constant replaced by its class: `i` for an integer, `n`
for a longer one, `d` for another number, `s` for a string. Texts of one shape parse alike. The
constants become columns of numbers and of string numbers.

A text is cut by one regular expression that knows constants, and those names in which a digit
could be mistaken for one. Where it is wrong (a comment, a doubled quote), the constants it finds
are not those that the parser finds, and the shape is read text by text.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, filled, texts_of, values_of
from wherecast.language.bulk.tokens import (
    DECIMAL,
    END,
    INT,
    LONG,
    MARK,
    NAME,
    STRING,
    Tokens,
    are_constants,
    cumulated,
    distinct,
    tokens_of,
)
from wherecast.language.table.numbering import Ints, Numbering
from wherecast.language.text.string_literals import string_of
from wherecast.model import Limits
from wherecast.model.values import is_text

_NAME = r"([A-Za-z_\x{80}-\x{10FFFF}]+[0-9][0-9A-Za-z_]*|`[^`]*`)"
_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_LITERAL = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|""" + _NUMBER + ")"
_CUT = f"(?s){_NAME}|{_LITERAL}"
_CUT_HERE = re.compile(  # the same, and it does not go back over a name without a digit
    f"(?s){_NAME}|{_LITERAL}".replace(r"\x{80}-\x{10FFFF}]+", "\x80-\U0010ffff]++")
)
_CHUNK_ROWS = 16_384
_INTEGER_DIGITS_MAX = 18
_CODES = ("\\u", "\\U")  # escapes that may stand for no character: such texts are read alone
_STAND_INS = {"i": "1", "n": "1" * 19, "d": "1.5", "s": "'2001-01-01'"}
_EXACT_FLOAT_MIN = 1e-290  # nearer to 0, a double loses digits of its text, or is 0


@dataclass(frozen=True, slots=True, eq=False)
class Literals:
    """All constants of a column of texts, in the order of the texts.

    Attributes:
        floats: float64, the nearest double of a number; NaN where that is too near to 0.
        ints: int64, the value of an integer of at most 18 digits.
        strings: int64, the number of a string, see `number`; -1 where it has a lone surrogate.
        lengths: int64, the bytes of the constant in the text.
        texts: large strings, the constant as it stands in the text.
    """

    floats: npt.NDArray[np.float64]
    ints: npt.NDArray[np.int64]
    strings: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    texts: pa.LargeStringArray


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A column of texts, cut.

    Attributes:
        shapes: int64, for each row the number of its shape, or -1 where it must be read alone.
        keys: the shapes, each as a text with a mark, the class and a mark in the place of a
            constant, and two marks after a name that has a digit.
        starts: int64, for each row where its constants start in `literals`.
        literals: the constants.
    """

    shapes: Ints
    keys: Sequence[str]
    starts: Ints
    literals: Literals


def cut(
    texts: pa.Array, number: Callable[[str], int], bytes_max: int, chunk_bytes: int = 1 << 24
) -> Cut:
    """The shapes and constants of texts; `number` gives a string its number.

    Texts that are null, longer than `bytes_max`, or that hold the mark used here or the code of a
    character are read alone.
    Texts of `chunk_bytes` are cut at once; the marks may make three bytes of each byte.
    """
    pieces = Numbering()
    usable, found, sizes, parts = [], [], [], []
    for chunk in _chunks(texts, chunk_bytes):
        usable.append(_usable(chunk, bytes_max))
        if not usable[-1].all():
            chunk = pc.if_else(array_of(usable[-1]), chunk, pa.scalar("", chunk.type))
        tokens, offsets, literals = _cut_chunk(chunk.cast(pa.string()), pieces.number, number)
        found.append(tokens)
        sizes.append(np.diff(offsets))
        parts.append(literals)
    tokens = np.concatenate([np.zeros(0, np.int32), *found])
    offsets = cumulated(np.concatenate([np.zeros(0, np.int64), *sizes]))
    shapes, keys = distinct(tokens, offsets, pieces.things)
    return Cut(
        np.where(np.concatenate([np.zeros(0, bool), *usable]), shapes, -1),
        keys,
        cumulated(are_constants(tokens))[offsets[:-1]],
        _joined(parts),
    )


def cut_one(text: str, limits: Limits) -> tuple[str, tuple[str, ...]] | None:
    """The key and the constants of one text, as `cut` finds them; None where it is read alone."""
    short = 4 * len(text) <= limits.filter_text_bytes_max  # whatever its characters
    if not short or MARK in text or text.lstrip().startswith("[") or not is_text(text):
        return None
    if any(escape in text for escape in _CODES):
        return None
    pieces = _CUT_HERE.split(text)
    constants = pieces[2::3]
    pieces[2::3] = [
        MARK * 2 if constant is None else f"{MARK}{_class_of(constant)}{MARK}"
        for constant in constants
    ]
    return "".join(filter(None, pieces)), tuple(filter(None, constants))


def _class_of(constant: str) -> str:
    if constant[0] in "'\"":
        return "s"
    if not constant.isdigit():
        return "d"
    return "i" if len(constant) <= _INTEGER_DIGITS_MAX else "n"


def constants_of(constants: list[str], number: Callable[[str], int]) -> Literals:
    """The columns of a few constants, as `cut` gives them; `number` gives a string its number."""
    is_text = [constant[0] in "'\"" for constant in constants]
    floats = [0.0 if text else float(c) for c, text in zip(constants, is_text, strict=True)]
    ints = [int(c) if c.isdigit() and len(c) <= _INTEGER_DIGITS_MAX else 0 for c in constants]
    strings = [
        _numbered(c, number) if text else 0 for c, text in zip(constants, is_text, strict=True)
    ]
    for place, value in enumerate(floats):
        tiny = value < _EXACT_FLOAT_MIN and not is_text[place] and ints[place] == 0
        if tiny and constants[place].strip("0.")[:1].isdigit():
            floats[place] = nan
    lengths = [len(c) if c.isascii() else len(c.encode()) for c in constants]
    return Literals(
        np.array(floats, np.float64), np.array(ints, np.int64), np.array(strings, np.int64),
        np.array(lengths, np.int64), texts_of(constants),
    )  # fmt: skip


def positions(text: str) -> dict[int, str]:
    """The constants of one text as the cut sees them, by the places where they start."""
    return {m.start(2): m[2] for m in _CUT_HERE.finditer(text) if m[2] is not None}


def shape_key(text: str | None) -> str:
    """The text without its constants: what tells its shape from others."""
    return "" if text is None else _CUT_HERE.sub(lambda found: found[1] or MARK, text)


def example_of(key: str, frozen: Mapping[int, str] | None = None) -> str | None:
    """A text that has the key of a shape, or of a part of one, with constants of its classes.

    The constants whose numbers `frozen` has are those that it gives. None where the text would not
    be cut so, as in `1e01e0`, of which the last part is a name.
    """
    pieces = key.split(MARK)
    constants = [_STAND_INS[piece] for piece in pieces[1::2] if piece]
    for number, constant in (frozen or {}).items():
        constants[number] = constant
    given = iter(constants)
    pieces[1::2] = [next(given) if piece else "" for piece in pieces[1::2]]
    text = "".join(pieces)
    return text if list(positions(text).values()) == constants else None


def _usable(chunk: pa.Array, bytes_max: int) -> npt.NDArray[np.bool_]:
    usable = np.ones(len(chunk), bool)
    if chunk.null_count:
        usable = values_of(chunk.is_valid())
        chunk = chunk.fill_null("")
    usable = usable & (values_of(pc.binary_length(chunk)) <= bytes_max)
    usable &= ~values_of(pc.match_substring(chunk, MARK))
    usable &= ~values_of(pc.match_substring_regex(chunk, r"^\s*\["))  # a list of triples
    for escape in _CODES:
        usable &= ~values_of(pc.match_substring(chunk, escape))
    return usable


def _joined(parts: Sequence[Literals]) -> Literals:
    return Literals(
        np.concatenate([np.zeros(0), *(part.floats for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.ints for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.strings for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)]),
        pa.concat_arrays([texts_of([]), *(part.texts for part in parts)]),
    )


def _chunks(texts: pa.Array, chunk_bytes: int) -> Iterator[pa.Array]:
    """The texts in chunks whose cut fits 32-bit offsets."""
    ends = cumulated(filled(pc.binary_length(texts), 0))
    start = 0
    while start < len(texts):
        fitting = int(np.searchsorted(ends, ends[start] + chunk_bytes, side="right")) - 1
        end = min(max(fitting, start + 1), start + _CHUNK_ROWS)
        yield texts.slice(start, end - start)
        start = end


def _cut_chunk(
    texts: pa.Array, piece: Callable[[str], int], number: Callable[[str], int]
) -> tuple[Tokens, Ints, Literals]:
    """The tokens of a chunk of texts, where those of each text start, and the constants."""
    marked = pc.replace_substring_regex(texts, _CUT, rf"\1{MARK}\2{MARK}")
    split = pc.split_pattern(marked, MARK)
    flat, places = split.flatten(), values_of(split.offsets).astype(np.int64)
    # marks come in pairs: a text of n tokens is n pieces and what is between them
    offsets = (places + np.arange(len(places))) >> 1
    at = 2 * np.arange(offsets[-1]) - np.repeat(np.arange(len(texts)), np.diff(offsets))
    coded = flat.take(array_of(at)).dictionary_encode()
    numbers = np.array([piece(text) for text in coded.dictionary.to_pylist()], np.int64)
    is_constant = values_of(pc.binary_length(flat)) > 0
    is_constant[at] = False
    classes, literals = _read(flat.filter(array_of(is_constant)), number)
    ends = np.full(len(flat) + 1, NAME, np.int8)
    ends[:-1][is_constant] = classes
    ends[places[1:]] = END
    return tokens_of(numbers[values_of(coded.indices)], ends[at + 1]), offsets, literals


def _read(found: pa.Array, number: Callable[[str], int]) -> tuple[npt.NDArray[np.int8], Literals]:
    """The classes of constants and their values."""
    lengths = values_of(pc.binary_length(found)).astype(np.int64)
    is_string = values_of(pc.match_substring_regex(found, "^['\"]"))
    is_plain = values_of(pc.ascii_is_decimal(found))
    is_int = is_plain & (lengths <= _INTEGER_DIGITS_MAX)
    floats = np.zeros(len(found))
    floats[~is_string] = values_of(pc.cast(found.filter(array_of(~is_string)), pa.float64()))
    tiny = np.flatnonzero(~is_string & ~is_int & (np.abs(floats) < _EXACT_FLOAT_MIN))
    lossy = values_of(pc.match_substring_regex(found.take(array_of(tiny)), "^[0.]*[1-9]"))
    floats[tiny[lossy]] = np.nan
    ints = np.zeros(len(found), np.int64)
    ints[is_int] = values_of(pc.cast(found.filter(array_of(is_int)), pa.int64()))
    strings = np.zeros(len(found), np.int64)
    coded = found.filter(array_of(is_string)).dictionary_encode()
    numbers = [_numbered(text, number) for text in coded.dictionary.to_pylist()]
    strings[is_string] = np.array(numbers, np.int64)[values_of(coded.indices)]
    classes = np.full(len(found), DECIMAL, np.int8)
    classes[is_string], classes[is_plain], classes[is_int] = STRING, LONG, INT
    return classes, Literals(floats, ints, strings, lengths, found.cast(pa.large_string()))


def _numbered(constant: str, number: Callable[[str], int]) -> int:
    """The number of the string that a quoted constant stands for, or -1 where it is no text."""
    text = _unquoted(constant)
    if is_text(text):
        return number(text)
    number("")  # so that the column of numbers has some string
    return -1


def _unquoted(text: str) -> str:
    """The string that a quoted constant stands for."""
    return text[1:-1] if "\\" not in text else string_of(text)
