"""The outline of JSON text: its keys, its depth, the elements of its array, without decoding it.

Everything here is vector arithmetic over the bytes. It is exact for valid JSON; for other text it
gives some answer, which callers check by decoding each piece.
"""

import re

import numpy as np
import numpy.typing as npt

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_WHITE = b" \t\r\n"


def count_keys(text: bytes) -> int:
    """The number of keys as written, those given twice included: the colons outside strings."""
    codes, outside = _outside_strings(text)
    return int(np.count_nonzero((codes == ord(":")) & outside))


def depth_of(text: bytes) -> int:
    """The deepest nesting of objects and arrays."""
    return int(_depths(*_outside_strings(text)).max(initial=0))


def elements(text: bytes) -> list[tuple[int, int]] | None:
    """Where each element of an array starts and ends, or None where the text is no array."""
    first, last = len(text) - len(text.lstrip(_WHITE)), len(text.rstrip(_WHITE)) - 1
    if last <= first or text[first] != ord("[") or text[last] != ord("]"):
        return None
    codes, outside = _outside_strings(text)
    depths = _depths(codes, outside)
    if depths[last] != 0 or (depths[first:last] < 1).any():
        return None
    commas = np.flatnonzero((codes == ord(",")) & outside & (depths == 1)).tolist()
    if not commas and not text[first + 1 : last].strip(_WHITE):
        return []
    return list(zip([first + 1, *(c + 1 for c in commas)], [*commas, last], strict=True))


def _outside_strings(text: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """The bytes, escapes blanked out, and which of them stand outside strings.

    Shapes:
        both (len(text),): uint8 and bool.
    """
    plain = _ESCAPE.sub(b"__", text) if b"\\" in text else text
    codes = np.frombuffer(plain, dtype=np.uint8)
    quotes = np.cumsum(codes == ord('"'), dtype=np.uint8)  # wraps, its last bit stays right
    return codes, quotes & 1 == 0


def _depths(codes: npt.NDArray[np.uint8], outside: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """How deep the text is nested after each byte; int32, shape as `codes`."""
    opening = ((codes == ord("{")) | (codes == ord("["))) & outside
    closing = ((codes == ord("}")) | (codes == ord("]"))) & outside
    return np.cumsum(opening.astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
