"""The outline of JSON text, found without decoding: its keys, depth and array elements.

The functions use vector arithmetic over the bytes. They are exact for valid JSON. For other text
their result is arbitrary, and callers check it by decoding each piece.
"""

import re

import numpy as np
import numpy.typing as npt

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_WHITE = b" \t\r\n"


def count_keys(text: bytes) -> int:
    """The number of keys in the text, repeated keys included: the colons outside strings."""
    codes, outside = _outside_strings(text)
    return int(np.count_nonzero((codes == ord(":")) & outside))


def depth_of(text: bytes) -> int:
    """The deepest nesting of objects and arrays."""
    return int(_depths(*_outside_strings(text)).max(initial=0))


def elements(text: bytes) -> list[tuple[int, int]] | None:
    """The start and the end of each element of an array; None if the text is not an array."""
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
    """The bytes with escapes blanked out, and whether each byte is outside strings.

    Shapes:
        both (len(text),): uint8 and bool.
    """
    plain = _ESCAPE.sub(b"__", text) if b"\\" in text else text
    codes = np.frombuffer(plain, dtype=np.uint8)
    quotes = np.cumsum(codes == ord('"'), dtype=np.uint8)  # overflows, but the last bit stays right
    return codes, quotes & 1 == 0


def _depths(codes: npt.NDArray[np.uint8], outside: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """The depth of nesting after each byte; int32, shape as `codes`."""
    opening = ((codes == ord("{")) | (codes == ord("["))) & outside
    closing = ((codes == ord("}")) | (codes == ord("]"))) & outside
    return np.cumsum(opening.astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
