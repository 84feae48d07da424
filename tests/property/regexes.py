"""Random regular expressions that Java and RLIKE both take, and strings to find them in."""

from random import Random

LETTERS = ("a", "b", "Z", "1", "_", "-", " ", "é", "Č", "ſ", "٣", "😀")
ESCAPES = (
    r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\.", r"\-", r"\t", r"\x61", r"\u010C", r"\0141",
    r"\x{1F600}", r"\p{L}", r"\P{L}", r"\p{Lu}", r"\p{Alpha}", r"\p{Punct}", r"\P{Digit}",
    r"\p{IsLatin}", r"\Qa.\E",
)  # fmt: skip
CLASSES = (
    "[ab]", "[^ab]", "[a-z]", "[^A-Z]", r"[\w-]", r"[\s\d]", r"[^\s]", "[]a]", "[é-ž]", r"[\p{L}1]",
    "[.$^]", r"[^\D]",
)  # fmt: skip
QUANTIFIERS = ("", "", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{2,}", "{0,3}?")
ENDS = ("$", r"\z", r"\Z")
TEXT_LETTERS = (*LETTERS, *"aabbZ.$^", "\t", "\n", "\r", "\x0b", "\x85", "\u2028")
LAST = ("", "", "", "\n", "\r", "\r\n", "\x85", "\u2029", "\n\n")


class Regexes:
    """Draws expressions and strings."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def draw(self) -> str:
        """An expression of a few levels, perhaps with flags or fixed at an end."""
        rng = self._rng
        flags = rng.choice(["", "", "", "(?i)", "(?s)", "(?is)"])
        start = rng.choice(["", "", "^", r"\A", r"\b"])
        end = rng.choice(["", "", rng.choice(ENDS), rng.choice([r"\b", r"\B"])])
        return flags + start + self._sequence(2) + end

    def text(self) -> str:
        """A short string with letters beyond ASCII and line terminators."""
        rng = self._rng
        return "".join(rng.choices(TEXT_LETTERS, k=rng.randrange(7))) + rng.choice(LAST)

    def _sequence(self, depth: int) -> str:
        return "".join(self._repeated(depth) for _ in range(self._rng.choice([1, 1, 2, 2, 3])))

    def _repeated(self, depth: int) -> str:
        rng = self._rng
        if depth and rng.random() < 0.25:
            opening = rng.choice(["(", "(?:", "(?i:", "(?-i:", "(?s:"])
            parts = [self._sequence(depth - 1) for _ in range(rng.choice([1, 2, 2, 3]))]
            atom = f"{opening}{'|'.join(parts)})"
        else:
            atom = rng.choice([rng.choice(LETTERS), rng.choice(ESCAPES), rng.choice(CLASSES), "."])
        # behind \E a quantifier repeats the last quoted letter only
        return atom + rng.choice(QUANTIFIERS)
