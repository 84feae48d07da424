"""Constants behind a word that names their type: DATE '…', TIMESTAMP '…', INTERVAL 90 MINUTES."""

from wherecast.language.meaning.constants import LiteralKind
from wherecast.language.text import syntax_errors as wrong
from wherecast.language.text.interval_literals import UNITS, range_interval, sum_of, text_interval
from wherecast.language.text.operands import add_string
from wherecast.language.text.parser_state import FOLLOWS, ParserState
from wherecast.language.text.steps import Step
from wherecast.language.text.string_literals import string_of
from wherecast.language.text.tokens import NAME, NUMBER, STRING, Token
from wherecast.model import FilterError

_KINDS: dict[str, LiteralKind] = {
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMPLTZ", "TIMESTAMPTZ"), "time"),
    **dict.fromkeys(("TIMESTAMP_NTZ", "TIMESTAMPNTZ"), "local"),
    "DATE": "date",
}


def read_typed(state: ParserState, token: Token) -> None:
    """Reads a number or string right behind a name, which must name a type."""
    _, name, place = state.out[-1]
    upper = name.upper() if state.text[place] != "`" else ""
    if token.kind == STRING and upper in _KINDS:
        state.out.pop()
        add_string(state, _KINDS[upper], token.text, token.place, place)
    elif upper == "INTERVAL":
        state.out.pop()
        read_interval(state, token, place)
    elif upper == "X" and token.kind == STRING:
        raise FilterError("bytes such as X'41' are not in the language", place)
    else:
        raise wrong.no_follower(state, token.text, token.place)


def is_signed_interval(state: ParserState, word: str) -> bool:
    """Whether INTERVAL stands before a sign that is followed by an amount and a unit."""
    if word not in "+-" or state.out[-1].argument.upper() != "INTERVAL":
        return False
    before = state.at
    is_amount = state.next().kind in (NUMBER, STRING)
    is_interval = is_amount and _unit(state) is not None
    state.at = before
    return is_interval


def read_interval(state: ParserState, token: Token, place: int, sign: str = "") -> None:
    """Reads an interval from its first amount on."""
    pairs: list[tuple[str, str]] = []
    start = token.place
    while True:
        state.check_literal(token.text, token.place)
        is_text = token.kind == STRING
        amount = string_of(token.text, token.place) if is_text else token.text
        unit = _unit(state)
        if unit is None:
            if pairs or not is_text:
                raise wrong.no_unit(token)
            interval = text_interval(amount, start)
            break
        if is_text and not pairs and (last := _last_unit(state)) is not None:
            interval = range_interval(amount, (unit, last), start)
            break
        pairs.append((amount, unit))
        before = state.at
        token = state.next()
        if token.kind not in (NUMBER, STRING):
            state.at = before
            interval = sum_of(pairs, start)
            break
    if sign == "-":
        interval = interval._replace(months=-interval.months, micros=-interval.micros)
    state.out.append(Step("interval", interval, place))
    state.phase = FOLLOWS


def _unit(state: ParserState) -> str | None:
    """The unit that follows, taken; None where none follows."""
    before = state.at
    token = state.next()
    if token.kind == NAME and token.text.lower() in UNITS:
        return token.text
    state.at = before
    return None


def _last_unit(state: ParserState) -> str | None:
    """The unit behind TO, taken; None where no TO follows."""
    before = state.at
    token = state.next()
    if token.kind != NAME or token.text.upper() != "TO":
        state.at = before
        return None
    unit = _unit(state)
    if unit is None:
        raise wrong.no_unit(token)
    return unit
