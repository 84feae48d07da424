"""Reading plain filters one at a time, without a parser.

A text is split at its constants. The pieces between them tell its form, which is made once; after
that a text with the same pieces is read by filling in its constants. What is not plain is left to
others: a constant of an unusual kind (an exponent, an escape, many digits), and constants that
make the filter take another form (bounds that exclude each other). So all ways of reading give
the same.

Texts with the same pieces have one shape, but for the classes of their constants: no piece has the
quote of a string or half a quoted name, and next to a constant stand only characters that cannot
belong to one.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wherecast.language.bulk.filter_shapes import Shapes
from wherecast.language.bulk.literals import cut_one
from wherecast.language.bulk.plain_forms import OWN_KEYS, PlainForm, form_of
from wherecast.language.meaning.keys import float_key
from wherecast.model import DEFAULT_LIMITS, Limits, Schema

# what stands before and after cannot belong to a constant
_CONSTANT = re.compile(
    r"(?<![^ \t\n=<>(,+-])([0-9]{1,18}(?:\.[0-9]{1,18})?|'[^'\\\x1f\ud800-\udfff]*')(?![^ \t\n),])"
)
_NUMBER_LENGTH_MAX = 37
_IN_NO_PIECE = frozenset("'\"\\\x1f")
FORMS_MAX = 10_000


class PlainFilter(NamedTuple):
    """A filter that was read.

    Attributes:
        text: as it was given.
        form: what it shares with others.
        ends: the least and the greatest key of each attribute, one after the other; 0 for strings.
        strings: what the strings are compared with, in the order of the form's `texts`.
    """

    text: str
    form: PlainForm
    ends: Sequence[int]
    strings: Sequence[str]


class PlainReader:
    """Reads the plain filters of a schema, and caches their forms.

    Concurrency: one thread at a time.

    Args:
        schema: the schema of the filters.
        limits: the limits of a filter.
        forms_max: number of cached forms at which the cache is emptied.
    """

    def __init__(
        self, schema: Schema, limits: Limits = DEFAULT_LIMITS, forms_max: int = FORMS_MAX
    ) -> None:
        self._forms_max = forms_max
        self._shapes = Shapes(schema, limits)
        self._length_max = limits.filter_text_bytes_max // 4  # whatever the characters
        self._string_max = limits.literal_bytes_max // 4
        self._forms: dict[tuple[str, ...], PlainForm | None] = {}

    def read(self, text: Any) -> PlainFilter | None:
        """The filter of a text that is accepted for certain; None where others must read it.

        The first text of a form is always left to them.
        """
        if not isinstance(text, str) or len(text) > self._length_max:
            return None
        parts = _CONSTANT.split(text)
        pieces, constants = tuple(parts[::2]), parts[1::2]
        form = self._forms.get(pieces)
        if form is not None:
            return self._filled(text, form, constants)
        if constants and pieces not in self._forms:
            if len(self._forms) >= self._forms_max:
                self._forms = {}
            self._forms[pieces] = self._form(text, pieces, constants)
        return None

    def _filled(self, text: str, form: PlainForm, constants: list[str]) -> PlainFilter | None:
        """The filter of a form with some constants; None where it is not plain with those."""
        try:
            if form.packed is not None:
                doubles, bits = form.packed
                keys = list(bits.unpack(doubles.pack(*map(float, constants))))
            else:
                keys = [_KEY_OF[kind](c) for kind, c in zip(form.kinds, constants, strict=True)]
        except ValueError:
            return None
        for place in form.negative:
            keys[place] = -keys[place]
        keys += OWN_KEYS
        ends: list[int] = []
        for low_place, more, high_place, less in form.sides:
            low, high = keys[low_place] + more, keys[high_place] + less
            if low > high:
                return None
            ends += (low, high)
        if not form.named:
            return PlainFilter(text, form, ends, ())
        strings = [constants[place][1:-1] for place in form.named]
        if max(map(len, strings)) + 2 > self._string_max:
            return None
        return PlainFilter(text, form, ends, strings)

    def _form(self, text: str, pieces: tuple[str, ...], constants: list[str]) -> PlainForm | None:
        """The form of the texts with some pieces, or None where they are not read here."""
        limits = self._shapes.limits
        cut = cut_one(text, limits)
        if cut is None or list(cut[1]) != constants or not _are_whole(pieces):
            return None
        shape = self._shapes.of(cut[0])
        if shape is None or limits.literal_bytes_max < _NUMBER_LENGTH_MAX:
            return None
        return form_of(shape, self._shapes.schema, len(constants))


def _are_whole(pieces: tuple[str, ...]) -> bool:
    """Whether pieces have no quote of a string and no half of a quoted name."""
    return all(_IN_NO_PIECE.isdisjoint(piece) and piece.count("`") % 2 == 0 for piece in pieces)


def _float_key(constant: str) -> int:
    return float_key(float(constant))


def _no_key(constant: str) -> int:
    """The key of a number; 0 for a string, whose key the store gives."""
    if constant[0] != "'":
        raise ValueError
    return 0


_KEY_OF: dict[str, Callable[[str], int]] = {"int": int, "float": _float_key, "string": _no_key}
