"""What follows an operand: operators, tests such as IN, what closes a frame, and casts."""

from collections.abc import Callable
from typing import NoReturn

from wherecast.language.meaning.constants import Word
from wherecast.language.text import syntax_errors as wrong
from wherecast.language.text.operands import Handler, add_string
from wherecast.language.text.parser_state import (
    ADD,
    AND,
    COMPARE,
    DONE,
    MULTIPLY,
    NAMED,
    OR,
    TEST,
    TESTED,
    TEXT,
    UNFINISHED,
    WANTED,
    Frame,
    ParserState,
    over,
)
from wherecast.language.text.steps import Step
from wherecast.language.text.string_literals import name_of, string_of
from wherecast.language.text.tokens import (
    COMMENT,
    DIGITS,
    END,
    NAME,
    NUMBER,
    QUOTED,
    STRING,
    Token,
)
from wherecast.language.text.typed_literals import is_signed_interval, read_interval, read_typed
from wherecast.model import FilterError

_new = tuple.__new__  # Step(…) takes twice as long
_COMPARED = {sign: sign for sign in ("=", "<>", "<", "<=", ">", ">=", "<=>")} | {
    "==": "=", "!=": "<>", "!<": ">=", "!>": "<="
}  # fmt: skip
_PATTERNS = {"LIKE": "like", "ILIKE": "ilike", "RLIKE": "rlike", "REGEXP": "rlike"}
_TESTS = {"NULL": "null", "TRUE": "true", "FALSE": "false", "UNKNOWN": "unknown"}
_BEFORE = {"WHEN": ("CASE", "THEN"), "THEN": ("WHEN",), "ELSE": ("THEN",), "END": ("THEN", "ELSE")}


def _join(state: ParserState, written: str, place: int) -> None:
    """A string beside a string continues it."""
    last = state.out[-1]
    word: Word = last.argument
    text = word.text + string_of(written, place)
    state.check_literal(text, word.position or 0)
    state.out[-1] = last._replace(argument=Word(word.kind, text, word.position))


# operators


def _behind_a_test(word: str, place: int) -> FilterError:
    """The error of an operator behind a finished test, as in `a IS NULL = TRUE`."""
    hint = "put the test before it in parentheses"
    return FilterError(f"not a WHERE clause: {word} cannot follow this test", place, hint)


def _compare(state: ParserState, word: str, place: int) -> None:
    stack = state.stack
    if state.phase == TESTED:
        raise _behind_a_test(word, place)
    if stack[-1][0] >= ADD:
        state.release(ADD)
    if stack[-1][0] == COMPARE:
        hint = "join two comparisons with AND, as in 1 < x AND x < 5"
        raise FilterError("not a WHERE clause: a comparison has two sides, not three", place, hint)
    stack.append((COMPARE, _new(Step, ("compare", _COMPARED[word], place))))
    state.phase = WANTED


def _arithmetic(state: ParserState, word: str, place: int) -> None:
    if state.phase == NAMED and is_signed_interval(state, word):
        name = state.out.pop()
        read_interval(state, state.next(), name.position, word)
        return
    if state.phase == TESTED:
        raise _behind_a_test(word, place)
    state.count_operation(place)
    power = ADD if word in "+-" else MULTIPLY
    state.release(power)
    state.infix(power, Step("binary", word.lower(), place))


def _and(state: ParserState, word: str, place: int) -> None:
    stack = state.stack
    if stack[-1][0] >= COMPARE:
        state.release(COMPARE)
    power, step = stack[-1]
    state.phase = WANTED
    if power == UNFINISHED:
        stack[-1] = (TEST, step)
        return
    if power >= AND:
        state.release(AND)
    state.count_predicate(place)
    stack.append((AND, _new(Step, ("and", None, place))))


def _or(state: ParserState, word: str, place: int) -> None:
    if state.stack[-1][0] >= OR:
        state.release(OR)
    state.count_predicate(place)
    state.stack.append((OR, _new(Step, ("or", None, place))))
    state.phase = WANTED


# tests


def _open_test(state: ParserState, word: str, place: int) -> None:
    """Releases what a test takes as its subject; a test has no other test beside it."""
    if state.stack[-1][0] >= COMPARE:
        state.release(COMPARE)
    if state.stack[-1][0] >= TEST:
        raise _behind_a_test(word, place)


def _not(state: ParserState, word: str, place: int) -> None:
    """NOT before IN, BETWEEN or LIKE."""
    token = state.next()
    handler = _NEGATED.get(token.text.upper()) if token.kind == NAME else None
    if handler is None:
        raise wrong.not_before(state, token, place)
    handler(state, token.text, place, True)


def _in(state: ParserState, word: str, place: int, negated: bool = False) -> None:
    _open_test(state, word, place)
    token = state.next()
    if token.text != "(":
        hint = "write IN (1, 2)"
        raise FilterError("not a WHERE clause: IN needs a list in parentheses", token.place, hint)
    state.push(Frame("in", place, token.place, negated))


def _between(state: ParserState, word: str, place: int, negated: bool = False) -> None:
    _open_test(state, word, place)
    state.infix(UNFINISHED, Step("between", negated, place))  # until its AND comes


def _pattern(state: ParserState, word: str, place: int, negated: bool = False) -> None:
    _open_test(state, word, place)
    state.infix(TEST, Step("pattern", (_PATTERNS[word.upper()], negated, False), place))


def _escape(state: ParserState, word: str, place: int) -> None:
    state.release(COMPARE)
    power, step = state.stack[-1]
    if power != TEST or step.code != "pattern" or step.argument[0] == "rlike":
        raise wrong.no_follower(state, word, place)
    token = state.next()
    if token.kind != STRING:
        raise FilterError("ESCAPE takes one character", token.place, "write ESCAPE '!'")
    kind, negated, has_escape = step.argument
    if has_escape:
        raise wrong.no_follower(state, word, place)
    add_string(state, "string", token.text, token.place)
    state.stack[-1] = (TEST, step._replace(argument=(kind, negated, True)))
    state.phase = TESTED


def _is(state: ParserState, word: str, place: int) -> None:
    _open_test(state, word, place)
    token = state.next()
    negated = token.kind == NAME and token.text.upper() == "NOT"
    if negated:
        token = state.next()
    upper = token.text.upper() if token.kind == NAME else ""
    if upper in _TESTS:
        state.stack.append((TEST, Step("is", (_TESTS[upper], negated), place)))
        state.phase = TESTED
        return
    if upper == "DISTINCT":
        token = state.next()
        if token.kind == NAME and token.text.upper() == "FROM":
            state.infix(TEST, Step("distinct", negated, place))
            return
    raise wrong.is_what(token, negated)


# frames


def _open(state: ParserState, word: str, place: int) -> None:
    """A parenthesis behind a name calls it."""
    if state.phase != NAMED:
        raise wrong.no_follower(state, word, place)
    state.count_operation(place)
    _, name, start = state.out.pop()
    lower = name.lower()
    quoted = state.text[start] == "`"
    power, step = state.stack[-1]
    if lower in ("any", "all", "some") and power == TEST and step.code == "pattern":
        raise FilterError(f"LIKE {lower.upper()} is not in the language", start,
                          "join several LIKE with OR or AND")  # fmt: skip
    if lower in ("cast", "try_cast") and not quoted:
        state.push(Frame("cast", start, place, lower == "try_cast"))
    else:
        state.push(Frame("call", start, place, lower))


def _close(state: ParserState, word: str, place: int) -> None:
    state.release(OR)
    frame = state.frame()
    if frame.kind == "(":
        state.pop()
    elif frame.kind == "call":
        state.pop()
        state.out.append(Step("call", (frame.argument, frame.count), frame.place))
    elif frame.kind == "in":
        state.pop(TESTED)
        state.stack.append((TEST, Step("in", (frame.argument, frame.count), frame.place)))
    else:
        raise wrong.bad_close(frame, word, place)


def _comma(state: ParserState, word: str, place: int) -> None:
    if state.innermost().kind not in ("call", "in"):
        raise wrong.no_comma(state, place)
    state.release(OR)
    frame = state.frame()
    frame.count += 1
    if frame.count > state.limits.in_values_max:
        limit = state.limits.in_values_max
        if frame.kind == "in":
            raise over("IN", "values", limit, frame.place)
        raise over(f"the call of {frame.argument[:40]}", "arguments", limit, frame.place)
    state.phase = WANTED


def _branch(state: ParserState, word: str, place: int) -> None:
    """WHEN, THEN, ELSE or END behind an operand of CASE."""
    upper = word.upper()
    state.release(OR)
    frame = state.frame()
    if frame.kind not in _BEFORE[upper]:
        raise wrong.bad_branch(state, frame, word, place)
    if upper == "END":
        state.pop()
        state.cases -= 1
        argument = (frame.count, frame.kind == "ELSE", frame.argument)
        state.out.append(Step("case", argument, frame.place))
        return
    if upper == "WHEN" and frame.kind == "THEN":
        state.count_operation(place)
        frame.count += 1
    frame.kind = upper
    state.phase = WANTED


def _end(state: ParserState, word: str, place: int) -> None:
    state.release(OR)
    frame = state.frame()
    if frame.kind != "filter":
        raise wrong.not_closed(frame)
    state.phase = DONE


# what binds most


def _cast(state: ParserState, word: str, place: int) -> None:
    """`x::type`."""
    if state.phase == TESTED:
        raise _behind_a_test(word, place)
    state.postfix(Step("cast", (_type(state, word), False), place), state.chain())


def _as(state: ParserState, word: str, place: int) -> None:
    """AS in CAST(x AS type)."""
    state.release(OR)
    frame = state.frame()
    if frame.kind != "cast":
        raise wrong.no_follower(state, word, place)
    name = _type(state, word)
    token = state.next()
    if token.text != ")":
        raise wrong.no_follower(state, token.text, token.place)
    state.pop()
    state.postfix(Step("cast", (name, frame.argument), frame.place), 0)


def _type(state: ParserState, after: str) -> str:
    """The type that follows, in lower case: `double`, `decimal(10,2)`."""
    token = state.next()
    if token.kind != NAME or "." in token.text:
        hint = f"write {after}{'' if after == '::' else ' '}double"
        raise FilterError(f"not a WHERE clause: {after} needs a type", token.place, hint)
    name = token.text.lower()
    if name in ("array", "map", "struct"):
        hint = "there are plain types, such as double, bigint and string"
        raise FilterError(f"the type {name} is not in the language", token.place, hint)
    before = state.at
    follower = state.next()
    if follower.text != "(":
        state.at = before
        return name
    sizes: list[str] = []
    while len(sizes) < 2:
        size, follower = state.next(), state.next()
        if size.kind != NUMBER or not size.text.isdigit() or follower.text not in ",)":
            break
        sizes.append(size.text[:9])
        if follower.text == ")":
            return f"{name}({','.join(sizes)})"
    raise FilterError(f"not a WHERE clause: {name} takes sizes, as in decimal(10,2)", token.place)


def _index(state: ParserState, word: str, place: int) -> None:
    if state.phase == TESTED:
        raise _behind_a_test(word, place)
    state.push(Frame("index", place, place, state.chain()))


def _close_index(state: ParserState, word: str, place: int) -> None:
    state.release(OR)
    frame = state.frame()
    if frame.kind != "index":
        raise wrong.bad_close(frame, word, place)
    state.pop()
    state.postfix(Step("index", None, frame.place), frame.argument)


def _dot(state: ParserState, word: str, place: int) -> None:
    """A dot that stands apart from the parts of a name, or before a part in back quotes."""
    token = state.next()
    if state.phase != NAMED or token.kind not in (NAME, QUOTED, DIGITS):
        raise FilterError("not a WHERE clause: a dot joins the parts of a name", place)
    last = state.out[-1]
    part = name_of(token.text) if token.kind == QUOTED else token.text
    name = f"{last.argument}.{part}"
    if len(name) > state.limits.literal_bytes_max:
        raise over("a name", "characters", state.limits.literal_bytes_max, last.position)
    state.out[-1] = last._replace(argument=name)


def _refused(state: ParserState, word: str, place: int) -> NoReturn:
    raise wrong.no_follower(state, word, place)


def _string(state: ParserState, word: str, place: int) -> None:
    """A string behind a string continues it; a string behind a name has the type of that name."""
    if state.phase == TEXT:
        _join(state, word, place)
    else:
        _constant(state, word, place, STRING)


def _number(state: ParserState, word: str, place: int) -> None:
    _constant(state, word, place, NUMBER)


def _constant(state: ParserState, word: str, place: int, kind: int) -> None:
    if state.phase != NAMED:
        raise wrong.no_follower(state, word, place)
    read_typed(state, Token(kind, word, place))


def _comment(state: ParserState, word: str, place: int) -> None:
    state.comment(place)


_NEGATED: dict[str, Callable[[ParserState, str, int, bool], None]] = {
    "IN": _in,
    "BETWEEN": _between,
    **dict.fromkeys(_PATTERNS, _pattern),
}
# handlers of key words in upper case and of operators
WORDS: dict[str, Handler] = {
    **dict.fromkeys(_COMPARED, _compare),
    **dict.fromkeys(("+", "-", "*", "/", "%", "DIV"), _arithmetic),
    **dict.fromkeys(_PATTERNS, _pattern),
    **dict.fromkeys(_BEFORE, _branch),
    "AND": _and,
    "OR": _or,
    "NOT": _not,
    "IN": _in,
    "BETWEEN": _between,
    "ESCAPE": _escape,
    "IS": _is,
    "AS": _as,
    "(": _open,
    ")": _close,
    "[": _index,
    "]": _close_index,
    ",": _comma,
    "::": _cast,
    ".": _dot,
    "": _end,
}
# handlers of other tokens, by their kind
KINDS: dict[int, Handler] = {
    **dict.fromkeys(range(NAME, END + 1), _refused),
    STRING: _string,
    NUMBER: _number,
    COMMENT: _comment,
}
