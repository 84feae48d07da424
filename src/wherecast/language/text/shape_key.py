"""Cuts the text of a filter into its shape and its constants, without parsing it.

Filters that differ only in their constants share a shape, which is parsed once. A shape may be used
only where the parser finds the same constants at the same places.
"""

import re

_MARK = "\x1f"
_CONSTANT = re.compile(
    r"('[^']*+'|(?<![\w.`])(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+(?![\w.]))"
)
# texts where a quote or a digit may be something else than a constant, or more than one
_ODD = re.compile(rf"""(?i)["`\\{_MARK}]|--|/\*|''|\binterval\b|(?:\bas\s|::)\s*+\w++\s*+\(""")
# a quote that is not closed; r'…' and X'…'
_NOT_PLAIN = re.compile(rf"(?i)(?<!{_MARK})'|\b[rx]{_MARK}'")


def shape_of(text: str) -> tuple[str, list[str]] | None:
    """The shape of a text and its constants, strings with their quotes; None: read it alone.

    A sign and a type letter belong to the shape, and so do names with digits. Where a constant
    was, the shape has a mark with ' for a string and 0 for a number.
    """
    if _ODD.search(text):
        return None
    parts = _CONSTANT.split(text)
    constants = parts[1::2]
    if not all(map(str.strip, parts[2:-1:2])):
        return None  # strings side by side are one
    parts[1::2] = [_MARK + ("'" if constant[0] == "'" else "0") for constant in constants]
    shape = "".join(parts)
    return None if _NOT_PLAIN.search(shape) else (shape, constants)
