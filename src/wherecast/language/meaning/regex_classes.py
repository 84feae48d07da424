"""Characters and classes of Java's regular expressions, written for RE2."""

import re

LINE_TERMINATORS = r"\n\r\x{85}\x{2028}\x{2029}"
ANY_LETTER = r"\x{0}-\x{10FFFF}"
_SPACES, _NO_SPACES = r"\t-\r ", r"\x{0}-\x{8}\x{E}-\x{1F}!-\x{10FFFF}"
_POSIX = {
    name: name.lower()
    for name in "Lower Upper ASCII Alpha Digit Alnum Punct Graph Print Blank Cntrl XDigit Space".split()  # noqa: E501, SIM905
}
_CATEGORIES = frozenset(
    """
    L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co
    """.split()  # noqa: SIM905
)
_CASED = frozenset({"Lower", "Upper", "Lu", "Ll", "Lt", "IsLu", "IsLl", "IsLt"})
_PROPERTY = re.compile(r"\\[pP](?:\{([^{}]*)\}|([a-zA-Z]))")
_NUMBERED = re.compile(
    r"\\(?:0([0-3]?[0-7]{1,2})|x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4}))"
)
_LOW_SURROGATE = re.compile(r"\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
_CONTROLS = {"t": 9, "n": 10, "r": 13, "f": 12, "a": 7, "e": 27}
_SIGNS = {"d": r"\d", "D": r"\D", "w": r"\w", "W": r"\W", "s": _SPACES, "S": _NO_SPACES}
_REFUSED = {
    "h": "the horizontal space",
    "H": "the horizontal space",
    "v": "the vertical space",
    "V": "the vertical space",
    "N": "the named character",
}


class RegexProblem(ValueError):
    """What an expression has and RE2 lacks, and where.

    Attributes:
        construct: its name.
        place: its first character in the expression, counted from 0.
    """

    def __init__(self, construct: str, place: int) -> None:
        super().__init__(f"{construct} at character {place + 1}")
        self.construct = construct
        self.place = place


def letter_of(code: int, ignore_case: bool) -> str:
    """One character as an expression; without case an ASCII letter is both of its cases."""
    if ignore_case and code < 128 and chr(code).isalpha():
        return f"[{chr(code).lower()}{chr(code).upper()}]"
    return _code(code)


def class_of(items: str) -> str:
    """A class of what may stand in one."""
    return f"[{items}]"


def _code(code: int) -> str:
    return chr(code) if code < 128 and chr(code).isalnum() else rf"\x{{{code:X}}}"


def _range(low: int, high: int, ignore_case: bool) -> str:
    """A range of characters; without case the twins of its ASCII letters are in it too."""
    ranges = [(low, high)]
    if ignore_case:
        for first, last, twin in ((65, 90, 32), (97, 122, -32)):
            start, end = max(low, first), min(high, last)
            if start <= end:
                ranges.append((start + twin, end + twin))
    return "".join(_code(a) if a == b else f"{_code(a)}-{_code(b)}" for a, b in ranges)


class CharacterReader:
    """Reads escapes and classes of an expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.ignore_case = False

    def problem(self, construct: str, place: int) -> RegexProblem:
        """What to raise for a construct."""
        return RegexProblem(construct, place)

    def read_class(self) -> str:
        """The class that begins here."""
        place = self.at
        self.at += 1
        is_negated = self.text.startswith("^", self.at)
        self.at += is_negated
        items: list[str] = []
        while not items or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise self.problem("an unclosed class", place)
            if self.text[self.at] == "[":
                raise self.problem("a class inside a class", self.at)
            if self.text.startswith("&&", self.at):
                raise self.problem("an intersection of classes `&&`", self.at)
            items.append(self._class_item())
        self.at += 1
        return f"[{'^' * is_negated}{''.join(items)}]"

    def _class_item(self) -> str:
        """A character, a range or a class of a class."""
        place = self.at
        low = self._class_letter()
        if isinstance(low, str):
            return low
        following = self.text[self.at + 1 : self.at + 2]
        if not self.text.startswith("-", self.at) or following in ("]", ""):
            return _range(low, low, self.ignore_case)
        self.at += 1
        if following == "[":
            raise self.problem("a class inside a class", self.at)
        high = self._class_letter()
        if isinstance(high, str):
            raise self.problem("a range that ends with a class", place)
        if high < low:
            raise self.problem("an inverted range", place)
        return _range(low, high, self.ignore_case)

    def _class_letter(self) -> int | str:
        if self.text[self.at] == "\\":
            return self.read_escape()
        self.at += 1
        return ord(self.text[self.at - 1])

    def read_escape(self) -> int | str:
        """The escape that begins here: a character's code, or what a class of it has inside."""
        place, sign = self.at, self.text[self.at + 1 : self.at + 2]
        if sign in ("p", "P"):
            return self._property()
        if sign in ("0", "x", "u"):
            return self._numbered()
        self.at += 2
        if sign in _SIGNS and sign:
            return _SIGNS[sign]
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "c" and self.at < len(self.text):
            self.at += 1
            return ord(self.text[self.at - 1]) ^ 64
        if not sign:
            raise self.problem("a backslash at the end", place)
        if sign.isascii() and sign.isalnum():
            raise self.problem(f"{_REFUSED.get(sign, 'escape')} `\\{sign}`", place)
        return ord(sign)

    def _numbered(self) -> int:
        place, found = self.at, _NUMBERED.match(self.text, self.at)
        if found is None:
            raise self.problem(f"escape `{self.text[place : place + 2]}` without a number", place)
        self.at = found.end()
        code = int(found[1], 8) if found[1] else int(found[2] or found[3] or found[4], 16)
        if found[4] and 0xD800 <= code < 0xDC00:
            low = _LOW_SURROGATE.match(self.text, self.at)
            if low is not None:
                self.at = low.end()
                code = 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise self.problem(f"`{found[0]}`, which is no character", place)
        return code

    def _property(self) -> str:
        place, found = self.at, _PROPERTY.match(self.text, self.at)
        if found is None:
            raise self.problem("a property without a name", place)
        self.at = found.end()
        name = found[1] if found[1] is not None else found[2]
        is_negated = self.text[place + 1] == "P"
        if self.ignore_case and name in _CASED:
            raise self.problem(f"property `{found[0]}` without case", place)
        if name in _POSIX:
            return f"[:{'^' * is_negated}{_POSIX[name]}:]"
        bare = name.removeprefix("Is")
        if bare not in _CATEGORIES and (bare == name or not re.fullmatch("[A-Z][A-Za-z_]+", bare)):
            raise self.problem(f"property `{found[0]}`", place)
        return rf"\{'P' if is_negated else 'p'}{{{bare}}}"
