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
    DIGITS,
    NAME,
    NUMBER,
    OPERATOR,
    QUOTED,
    STRING,
    TOKEN,
    Token,
)
from wherecast.model import FilterError


def read_operand(state: ParserState, kind: int, word: str, place: int) -> None:
    """Reads an operand, or what may stand before one: a sign, NOT, a parenthesis, CASE."""
    if kind == NAME:
        handler = _HANDLERS.get(word.upper())
        if handler is None:
            state.out.append(Step("name", word, place))
            state.phase = NAMED
        else:
            handler(state, word, place)
    elif kind == NUMBER:
        add_number(state, word, place)
    elif kind == STRING:
        add_string(state, "string", Token(kind, word, place), place)
    elif kind == OPERATOR and (handler := _HANDLERS.get(word)) is not None:
        handler(state, word, place)
    elif kind == QUOTED:
        state.out.append(Step("name", name_of(word), place))
        state.phase = NAMED
    elif kind == DIGITS:
        if wrong.is_like_a_number(word):
            raise wrong.number(word, place)
        state.out.append(Step("name", word, place))
        state.phase = NAMED
    else:
        _refused(state, word, place)


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
    state.out.append(Step("literal", Word("number", word, place, False, suffix), place))
    state.phase = FOLLOWS


def add_string(state: ParserState, kind: LiteralKind, token: Token, place: int) -> None:
    """Adds a string or a time, which begins at a place: that of the word before its quotes."""
    text = string_of(token.text, token.place)
    if len(text) > state.literal_max:
        state.check_literal(text, token.place)
    state.out.append(Step("literal", Word(kind, text, token.place), place))
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


_HANDLERS: dict[str, Callable[[ParserState, str, int], None]] = {
    **dict.fromkeys(("TRUE", "FALSE", "NULL"), _constant),
    **dict.fromkeys(
        ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER"),
        _present,
    ),
    **dict.fromkeys(("WHEN", "THEN", "ELSE", "END"), _branch),
    **dict.fromkeys(wrong.RESERVED, _refused),
    "CASE": _case,
    "NOT": _not,
    "!": _not,
    "-": _sign,
    "+": _sign,
    "(": _parenthesis,
    ")": _closed,
}
