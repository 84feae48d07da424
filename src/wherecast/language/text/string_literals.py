"""What a quoted constant or a back-quoted name says, as Spark reads it."""

import re

from wherecast.model import FilterError

_ESCAPE = re.compile(
    r"""(['"])\1|\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))""", re.DOTALL
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE_MAX = 0x10FFFF
_LETTERS = {
    "0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"
}  # fmt: skip


def string_of(written: str, place: int = 0) -> str:
    """The string that a quoted constant stands for; `place` is where it begins in the text.

    Raises:
        FilterError: an escape stands for no character.
    """
    quote = written[0]
    if quote in "rR":
        return written[2:-1]
    inner = written[1:-1]
    if "\\" not in inner:
        return inner.replace(quote + quote, quote) if quote in inner else inner
    found: list[str] = []
    at = 0
    for match in _ESCAPE.finditer(inner):
        found.append(inner[at : match.start()])
        found.append(_character(match, quote, place + 1))
        at = match.end()
    found.append(inner[at:])
    text = "".join(found)
    if _SURROGATE.search(text):  # two escapes may write the halves of one character
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def name_of(written: str) -> str:
    """The name that stands in back quotes."""
    return written[1:-1].replace("``", "`")


def _character(match: re.Match[str], quote: str, start: int) -> str:
    """The text that a doubled quote or an escape stands for."""
    if match[1] is not None:  # two quotes of the other kind are two quotes
        return quote if match[1] == quote else match[0]
    digits = match[2] or match[3]
    if digits is not None:
        code = int(digits, 16)
        if code > _CODE_MAX:
            raise FilterError(f"{match[0]} stands for no character", start + match.start())
        return chr(code)
    if match[4] is not None:
        return chr(int(match[4], 8))
    letter: str = match[5]
    return _LETTERS.get(letter, letter)
