"""Reads the text of a filter into steps, operands before their operators, without recursion.

Two questions alternate: which operand comes (`operands`), and what follows it (`followers`). How
strongly operators bind, and which forms there are, is as in Spark 4's grammar: NOT, then one test
such as IN or BETWEEN, then comparisons, which do not chain, then arithmetic, signs, and last casts
and `[ ]`.

Cost: linear in the text; the limits are checked while it is read.
"""

from wherecast.language.text import followers, operands
from wherecast.language.text.parser_state import DONE, NAMED, WANTED, ParserState, over
from wherecast.language.text.steps import Step
from wherecast.language.text.syntax_errors import token_error
from wherecast.language.text.tokens import NAME, TOKEN
from wherecast.model import FilterError, Limits


def parse(text: str, limits: Limits) -> list[Step]:
    """The steps of a filter's text.

    Raises:
        FilterError: the text is empty, exceeds a limit, or is not one condition of the language.
    """
    state = ParserState(text, limits)
    _parse(state)
    return state.out


def parse_counted(text: str, limits: Limits) -> tuple[list[Step] | FilterError, int]:
    """The steps of a text, or its error, and how many tokens and operators it took to read."""
    state = ParserState(text, limits)
    try:
        _parse(state)
    except FilterError as error:
        return error, state.work
    return state.out, state.work


def _parse(state: ParserState) -> None:
    try:
        _check_text(state.text, state.limits)
        _read(state)
    except FilterError as error:
        raise token_error(state.text, error).found_in(state.text) from None


def _check_text(text: str, limits: Limits) -> None:
    limit = limits.filter_text_bytes_max
    if len(text) > limit or (not text.isascii() and len(text.encode("utf-8", "replace")) > limit):
        raise over("text", "bytes", limit)
    if not text.strip():
        raise FilterError("the filter is empty", 0, "write TRUE to match every publication")


def _read(state: ParserState) -> None:
    """Takes token after token; a table gives what to do with each."""
    text, out, take, new = state.text, state.out, TOKEN.match, tuple.__new__
    phase = state.phase
    while phase != DONE:
        match = take(text, state.at)
        assert match is not None
        kind: int = match.lastindex  # type: ignore[assignment]  # every text matches a group
        word, place = match[kind], match.start(kind)
        state.at = match.end()
        state.work += 1
        if phase != WANTED:
            (followers.WORDS.get(word.upper()) or followers.KINDS[kind])(state, word, place)
        elif kind != NAME:
            operands.KINDS[kind](state, word, place)
        elif (handler := operands.WORDS.get(word.upper())) is not None:
            handler(state, word, place)
        else:
            out.append(new(Step, ("name", word, place)))
            state.phase = NAMED
        phase = state.phase
