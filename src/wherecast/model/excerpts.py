"""A place in a text, shown: the line around it, and a caret under it."""

import re
from unicodedata import category, combining, east_asian_width

WIDTH = 60
_LINE_END = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def excerpt(text: str, position: int, width: int = WIDTH) -> tuple[str, str]:
    """The line of a text that holds a position, and the line with a caret under that position.

    Of a long line, a window of at most `width` characters around the position is shown. A tab is
    shown as a space; a character that cannot be seen, as �.
    """
    position = max(0, min(position, len(text)))
    reach = slice(max(0, position - width), min(len(text), position + width))
    ends = [match.start() for match in _LINE_END.finditer(text, reach.start, reach.stop)]
    start = max([reach.start, *(end + 1 for end in ends if end < position)])
    stop = min([reach.stop, *(end for end in ends if end >= position)])
    first = max(start, min(position - width // 2, stop - width))
    last = min(stop, first + width)
    before, behind = first > start or _is_cut(text, start), last < stop or _is_open(text, stop)
    shown = [_visible(character) for character in text[first:last]]
    left = ("…" if before else "") + "".join(shown[: position - first])
    line = left + "".join(shown[position - first :]) + ("…" if behind else "")
    return line, " " * _columns(left) + "^"


def _is_cut(text: str, start: int) -> bool:
    return start > 0 and _LINE_END.match(text, start - 1) is None


def _is_open(text: str, stop: int) -> bool:
    return stop < len(text) and _LINE_END.match(text, stop) is None


def _visible(character: str) -> str:
    if character == "\t":
        return " "
    return "\ufffd" if category(character)[0] == "C" else character


def _columns(text: str) -> int:
    """The width of a text on a terminal, in columns."""
    return sum(
        0 if combining(character) or category(character) in ("Mn", "Me")
        else 2 if east_asian_width(character) in "WF"
        else 1
        for character in text
    )  # fmt: skip
