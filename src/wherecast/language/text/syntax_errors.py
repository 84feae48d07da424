"""Errors about the form of a filter: what is missing, where, and what to write instead."""

import re
from collections import deque
from itertools import takewhile

from wherecast.language.text.parser_state import Frame, ParserState
from wherecast.language.text.tokens import (
    MISTAKE,
    NUMBER,
    STRING,
    UNCLOSED,
    UNKNOWN,
    Token,
    tokens_of,
)
from wherecast.model import FilterError

RESERVED = (
    "AND", "OR", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IS", "DIV", "ESCAPE",
    "SELECT", "WHERE", "AS",
)  # fmt: skip
_WRONG = "not a WHERE clause: "
_POWERS = {
    **dict.fromkeys(("OR",), 1),
    **dict.fromkeys(("AND",), 2),
    **dict.fromkeys(("NOT", "!"), 3),
    **dict.fromkeys(("IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IS", "ESCAPE"), 4),
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "!<", "!>"), 5),
    **dict.fromkeys(("+", "-"), 6),
    **dict.fromkeys(("*", "/", "%", "DIV"), 7),
    "::": 8,
}
_INSTEAD = {
    "=>": ">=", "=<": "<=", "&&": "AND", "||": "OR", "≥": ">=", "≤": "<=", "≠": "<>", "−": "-",
    "–": "-", "×": "*", "÷": "/", "‘": "'", "’": "'", "“": "'", "”": "'", "„": "'", "´": "'",
    "¬": "NOT", "∧": "AND", "∨": "OR",
}  # fmt: skip
_REASONS = {
    "->": "functions with -> are",
    **dict.fromkeys(("&", "|", "^", "~", "<<", ">>", ">>>"), "operators on bits are"),
}
_FULL_WIDTH = range(0xFF01, 0xFF5F)
_QUERY = ("SELECT", "WITH", "FROM", "VALUES", "TABLE")
_CLAUSES = (
    "ORDER",
    "GROUP",
    "LIMIT",
    "HAVING",
    "UNION",
    "OFFSET",
    "SORT",
    "WINDOW",
    "WHERE",
    "FROM",
)
_NUMBER_LIKE = re.compile(r"[0-9][0-9_]*+(?:[eE]|[eE]?[0-9_]*+)\Z|0[xX][0-9a-fA-F]*+\Z")
OTHERS_MAX = 10


def token_error(text: str, error: FilterError) -> FilterError:
    """The errors of characters and quotes in a text, all at once; where there are none, the error.

    An error about a limit stays: the text behind it is not read.
    """
    if error.code == "limit":
        return error
    problems: list[FilterError] = []
    for number, token in enumerate(tokens_of(text)):
        is_where = number == 0 and token.text.upper() == "WHERE"
        problem = leading_where(token.place) if is_where else _token_problem(token)
        if problem is not None:
            problems.append(problem)
            if len(problems) > OTHERS_MAX:
                break
    if not problems:
        return error
    problems[0].others = tuple(problems[1:])
    return problems[0]


def _token_problem(token: Token) -> FilterError | None:
    """What is wrong with a token wherever it stands."""
    kind, word, place = token
    if kind == UNCLOSED:
        quote = word if word == "/*" else word[-1]
        hint = "write '' for a ' inside of a string" if quote == "'" else None
        start = place + len(word) - len(quote)
        return FilterError(f"a {quote} is opened and not closed", start, hint)
    if kind not in (MISTAKE, UNKNOWN):
        return None
    if word == ";":
        return FilterError("a filter is one condition", place, "leave ; out")
    if len(word) == 1 and ord(word) in _FULL_WIDTH:
        plain = chr(ord(word) - 0xFEE0)
        hint = f"write {plain} instead of the full-width {word}"
        return FilterError(f"{_WRONG}{word} is not in the language", place, hint)
    if word in _INSTEAD:
        hint = f"write {_INSTEAD[word]}"
        return FilterError(f"{_WRONG}{word} is not in the language", place, hint)
    if word in _REASONS:
        return FilterError(f"{_REASONS[word]} not in the language", place)
    return FilterError(f"{_shown(word)} is not in the language", place)


def _shown(character: str) -> str:
    """A character, or its code where it cannot be seen."""
    return character if character.isprintable() else f"the character U+{ord(character):04X}"


def leading_where(place: int) -> FilterError:
    """The error of a filter that begins with the word WHERE."""
    hint = "leave the word WHERE out"
    return FilterError(f"{_WRONG}a filter is what stands behind WHERE", place, hint)


def no_operand(state: ParserState, word: str, place: int) -> FilterError:
    """The error of a token that stands where an operand must begin."""
    before = _token_before(state.text, place)
    upper = word.upper()
    if upper == "SELECT":
        return FilterError("a filter cannot hold a subquery", place)
    if upper == "WHERE" and before is None:
        return leading_where(place)
    if word == "*" and (before is None or before.text in "(,"):
        return FilterError("the star * is not in the language", place, "name an attribute")
    if before is None:
        if not word:
            return FilterError("the filter is only a comment", 0)
        if word == ")":
            return FilterError("a parenthesis is closed and not opened", place)
        name = f"write `{word}` for an attribute of that name" if word.isalpha() else None
        return FilterError(f"{_WRONG}{word} needs something on its left", place, name)
    return _between_two(before, word, place, state.innermost())


def _between_two(before: Token, word: str, place: int, frame: Frame) -> FilterError:
    """The error of two tokens with nothing between them where an operand belongs."""
    left, right = _POWERS.get(before.text.upper()), _POWERS.get(word.upper())
    opened = before.text.upper() in ("(", "[", ",", "CASE", "WHEN", "THEN", "ELSE")
    if right is not None and (opened or (left is not None and left < right)):
        return FilterError(f"{_WRONG}{word} needs something on its left", place)
    if before.text == "(" and word == ")" and frame.kind == "in":
        return FilterError("IN needs a list of constants", before.place, "write IN (1, 2)")
    if before.text == "(" and word == ")":
        return FilterError(f"{_WRONG}the parentheses are empty", before.place)
    if before.text == "(" and not word:
        return FilterError("a parenthesis is opened and not closed", before.place)
    hint = None
    if before.text == "=" and word in ("=", "==", ">", "<"):
        hint = {">": "write >=", "<": "write <="}.get(word, "write = once")
    elif word == ")" and before.text == ",":
        hint = "leave the last comma out"
    elif not word and before.text.upper() in ("AND", "OR"):
        hint = f"leave the last {before.text} out, or write a condition behind it"
    elif not word and before.text == "%":
        hint = "write a pattern in quotes, as in LIKE 'a%'"
    elif before.text.upper() == "CASE":
        hint = "write CASE WHEN … THEN … END"
    return FilterError(f"{_WRONG}{before.text} needs something on its right", before.place, hint)


def no_follower(state: ParserState, word: str, place: int) -> FilterError:
    """The error of a token that cannot stand behind an operand."""
    frame = state.innermost()
    before = _token_before(state.text, place)
    upper = word.upper()
    earlier = before.text.upper() if before is not None else ""
    if earlier in _QUERY or upper == "SELECT":
        start = place if upper == "SELECT" else before.place if before else place
        return FilterError("a filter cannot hold a subquery", start)
    if upper == "OVER":
        return FilterError("window functions (OVER) are not in the language", place)
    if frame.kind in ("in", "call") and upper not in _CLAUSES:
        return FilterError(f"{_WRONG}a comma is missing before {_cut(word)}", place)
    hint = "a filter is only the condition of a WHERE clause" if upper in _CLAUSES else None
    if earlier == "IS" or word in ("ISNULL", "NOTNULL"):
        hint = "write IS NULL or IS NOT NULL"
    elif word == "!":
        hint = "write != or <> for not equal"
    message = f"{_WRONG}AND, OR or an operator is missing before {_cut(word)}"
    return FilterError(message, place, hint)


def not_before(state: ParserState, token: Token, place: int) -> FilterError:
    """The error of a NOT behind an operand that no IN, BETWEEN or LIKE follows."""
    signs = {"=": "<>", "==": "<>", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
    if token.text in signs:
        hint = f"write {signs[token.text]}"
    elif token.text.upper() == "NULL":
        hint = "write IS NOT NULL"
    else:
        hint = "write NOT before the whole condition"
    message = f"{_WRONG}NOT stands before IN, BETWEEN, LIKE, ILIKE or RLIKE here"
    return FilterError(message, place, hint)


def is_what(token: Token, negated: bool) -> FilterError:
    """The error of an IS that is followed by something else than it takes."""
    hint = None
    if token.kind in (NUMBER, STRING):
        hint = f"write {'<>' if negated else '='} {_cut(token.text)}"
    message = f"{_WRONG}IS takes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM"
    return FilterError(message, token.place, hint)


def no_comma(state: ParserState, place: int) -> FilterError:
    """The error of a comma outside of a list."""
    hint = None
    before, behind = _token_before(state.text, place), state.next()
    if before is not None and before.kind == NUMBER and behind.kind == NUMBER:
        whole = before.text.replace(".", "")  # in 1.000,5 the point groups digits
        hint = f"write {_cut(whole)}.{_cut(behind.text)} with a point"
    return FilterError(f"{_WRONG}a comma has no place here", place, hint)


def bad_close(frame: Frame, word: str, place: int) -> FilterError:
    """The error of something that is closed, but not opened last."""
    if frame.kind in ("CASE", "WHEN", "THEN", "ELSE"):
        return no_end(frame)
    if frame.kind == "cast":
        return FilterError(f"{_WRONG}CAST needs AS and a type", frame.place,
                           "write CAST(x AS double)")  # fmt: skip
    name = "a parenthesis" if word == ")" else "a bracket"
    if frame.kind != "filter":
        return not_closed(frame)
    return FilterError(f"{name} is closed and not opened", place)


def not_closed(frame: Frame) -> FilterError:
    """The error of something that is opened and not closed."""
    if frame.kind in ("CASE", "WHEN", "THEN", "ELSE"):
        return no_end(frame)
    name = "a bracket" if frame.kind == "index" else "a parenthesis"
    return FilterError(f"{name} is opened and not closed", frame.opened)


def no_end(frame: Frame) -> FilterError:
    """The error of a CASE that lacks WHEN, THEN or END."""
    lacks = {"CASE": "WHEN", "WHEN": "THEN"}.get(frame.kind, "END")
    hint = "write CASE WHEN … THEN … END"
    return FilterError(f"{_WRONG}CASE needs {lacks}", frame.place, hint)


def bad_branch(state: ParserState, frame: Frame, word: str, place: int) -> FilterError:
    """The error of a WHEN, THEN, ELSE or END in the wrong place."""
    if frame.kind in ("CASE", "WHEN"):
        return no_end(frame)
    if frame.kind in ("THEN", "ELSE"):
        return FilterError(f"{_WRONG}{word} has no place here", place)
    if state.cases:
        return not_closed(frame)
    return no_follower(state, word, place)


def no_unit(token: Token) -> FilterError:
    """The error of an interval without its unit."""
    hint = "write INTERVAL 90 MINUTES, or INTERVAL '1 day 6 hours'"
    return FilterError("an interval needs a unit", token.place, hint)


def is_like_a_number(word: str) -> bool:
    """Whether a word that begins with a digit is rather a number than a name."""
    return _NUMBER_LIKE.match(word) is not None


def number(word: str, place: int) -> FilterError:
    """The error of something that looks like a number."""
    hint = None
    if word[-1:].upper() in ("L", "S", "Y"):
        hint = f"{word[-1].upper()} stands behind whole numbers"
    elif "_" in word:
        hint = f"write {_cut(word.replace('_', ''))}"
    return FilterError(f"{_cut(word)} is not a number", place, hint)


def _token_before(text: str, place: int) -> Token | None:
    """The token before the one at a place; the text is cut once more, up to there."""
    earlier = takewhile(lambda token: token.place < place, tokens_of(text))
    return next(iter(deque(earlier, maxlen=1)), None)


def _cut(text: str) -> str:
    """A part of the text as an error shows it: short, and in one line."""
    shown = "".join(character if character.isprintable() else " " for character in text[:40])
    return shown if len(text) <= 40 else shown + "…"
