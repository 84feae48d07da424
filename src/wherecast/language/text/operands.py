"""Operands: what the parser does with a token where an operand may begin."""

from collections.abc import Callable

from wherecast.language.meaning.constants import LiteralKind, Word
from wherecast.language.text import syntax_errors as wrong
from wherecast.language.text.parser_state import (
    FOLLOWS,
    NAMED,
    NOT,
    OPEN,
    SIGN,
    TEXT,
    WANTED,
    Frame,
    ParserState,
)
from wherecast.language.text.steps import Step
from wherecast.language.text.string_literals import name_of, string_of
from wherecast.language.text.tokens import (
    COMMENT,
    DIGITS,
    END,
    MISTAKE,
    NUMBER,
    OPERATOR,
    QUOTED,
    STRING,
    TOKEN,
    UNCLOSED,
    UNKNOWN,
)
from wherecast.model import FilterError

Handler = Callable[[ParserState, str, int], None]
_new = tuple.__new__  # Step(…) and Word(…) take twice as long


def add_number(state: ParserState, word: str, place: int) -> None:
    """Adds a number, with its type letter apart."""
    suffix = ""
    if word[-1] not in "0123456789.":
        suffix = "BD" if word[-2] in "bB" else word[-1].upper()
        written, word = word, word[: -len(suffix)]
        if suffix in "LSY" and not word.isdigit():
            raise wrong.number(written, place)
    if len(word) > state.literal_max:
        state.check_literal(word, place)
    literal = _new(Word, ("number", word, place, False, suffix))
    state.out.append(_new(Step, ("literal", literal, place)))
    state.phase = FOLLOWS


def add_string(
    state: ParserState, kind: LiteralKind, written: str, place: int, start: int | None = None
) -> None:
    """Adds a string or a time; `start` is the place of the word before its quotes."""
    text = string_of(written, place)
    if len(text) > state.literal_max:
        state.check_literal(text, place)
    literal = _new(Word, (kind, text, place, False, ""))
    state.out.append(_new(Step, ("literal", literal, place if start is None else start)))
    state.phase = TEXT


def _constant(state: ParserState, word: str, place: int) -> None:
    """TRUE, FALSE or NULL."""
    lower = word.lower()
    literal = Word("null", "NULL", place) if lower == "null" else Word("bool", lower, place)
    state.out.append(Step("literal", literal, place))
    state.phase = FOLLOWS


def _present(state: ParserState, word: str, place: int) -> None:
    """CURRENT_DATE and the like, which may be called without parentheses."""
    state.out.append(Step("name", word, place))
    state.phase = NAMED
    before = state.at
    if state.next().text != "(":
        state.out[-1] = Step("call", (word.lower(), 0), place)
        state.phase = FOLLOWS
        state.count_operation(place)
    state.at = before


def _not(state: ParserState, word: str, place: int) -> None:
    power, top = state.stack[-1]
    if power > NOT or (power == OPEN and top.kind == "index"):
        hint = f"put it in parentheses: ({word} …)"
        raise FilterError(f"not a WHERE clause: {word} has no place here", place, hint)
    state.prefix(NOT, Step("not", None, place))


def _sign(state: ParserState, word: str, place: int) -> None:
    """A sign before an operand; a minus belongs to the number behind it, as in -5::string."""
    state.count_operation(place)
    if word == "-":
        match = TOKEN.match(state.text, state.at)
        if match is not None and match.lastindex == NUMBER:
            state.at = match.end()
            state.work += 1
            add_number(state, match[NUMBER], match.start(NUMBER))
            state.out.append(Step("negate", None, place))
            return
    state.prefix(SIGN, Step("negate" if word == "-" else "plus", None, place))


def _parenthesis(state: ParserState, word: str, place: int) -> None:
    state.push(Frame("(", place, place))


def _closed(state: ParserState, word: str, place: int) -> None:
    """A parenthesis that closes where an operand may begin: only a call takes no operands."""
    power, frame = state.stack[-1]
    if power != OPEN or frame.kind != "call" or len(state.out) > frame.start:
        _refused(state, word, place)
    state.pop()
    state.out.append(Step("call", (frame.argument, 0), frame.place))


def _case(state: ParserState, word: str, place: int) -> None:
    state.count_operation(place)
    state.cases += 1
    state.push(Frame("CASE", place, place, True))


def _branch(state: ParserState, word: str, place: int) -> None:
    """WHEN right behind CASE; outside of CASE, a name."""
    power, frame = state.stack[-1]
    if not state.cases:
        state.out.append(Step("name", word, place))
        state.phase = NAMED
    elif word.upper() == "WHEN" and power == OPEN and frame.kind == "CASE":
        frame.kind = "WHEN"
        frame.argument = False
        state.phase = WANTED
    else:
        _refused(state, word, place)


def _refused(state: ParserState, word: str, place: int) -> None:
    raise wrong.no_operand(state, word, place)


def _string(state: ParserState, word: str, place: int) -> None:
    add_string(state, "string", word, place)


def _quoted(state: ParserState, word: str, place: int) -> None:
    """A name in back quotes."""
    state.out.append(Step("name", name_of(word), place))
    state.phase = NAMED


def _digits(state: ParserState, word: str, place: int) -> None:
    """A name that begins with a digit, as Spark reads it."""
    if wrong.is_like_a_number(word):
        raise wrong.number(word, place)
    state.out.append(Step("name", word, place))
    state.phase = NAMED


def _operator(state: ParserState, word: str, place: int) -> None:
    _SIGNS.get(word, _refused)(state, word, place)


def _comment(state: ParserState, word: str, place: int) -> None:
    state.comment(place)


_SIGNS: dict[str, Handler] = {"-": _sign, "+": _sign, "!": _not, "(": _parenthesis, ")": _closed}
# handlers of key words in upper case; other names are attributes or functions
WORDS: dict[str, Handler] = {
    **dict.fromkeys(("TRUE", "FALSE", "NULL"), _constant),
    **dict.fromkeys(
        ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER"),
        _present,
    ),
    **dict.fromkeys(("WHEN", "THEN", "ELSE", "END"), _branch),
    **dict.fromkeys(wrong.RESERVED, _refused),
    "CASE": _case,
    "NOT": _not,
}
# handlers of the other kinds of tokens
KINDS: dict[int, Handler] = {
    **dict.fromkeys((MISTAKE, UNCLOSED, UNKNOWN, END), _refused),
    NUMBER: add_number,
    STRING: _string,
    QUOTED: _quoted,
    DIGITS: _digits,
    OPERATOR: _operator,
    COMMENT: _comment,
}
