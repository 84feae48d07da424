"""The text of a WHERE clause as a sqlglot tree, with its cost bounded before it is parsed."""

import sys
from itertools import zip_longest
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from wherecast.model import FilterError, Limits


class _Where(Spark):
    """Spark's dialect without statements: `show` and its like are names as any other."""

    class Tokenizer(Spark.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()


_SPARK = _Where()
_FRAMES_PER_LEVEL = 40  # parentheses take 20, a NOT before them 9
# what sqlglot's parser lets through for texts that nobody would write, such as 5e-3.5BD
_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_QUERIES = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.VALUES)
_PREFIXES = (TokenType.NOT, TokenType.DASH)
_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


def tokenize(text: str) -> list[Token]:
    """The tokens of a text.

    Raises:
        TokenError: it cannot be cut into tokens.
    """
    return _SPARK.tokenize(text)


def parse(text: str, limits: Limits) -> exp.Expression:
    """The tree of a filter's text.

    Raises:
        FilterError: it is empty, exceeds a limit, or is not one boolean expression.
    """
    if len(text) > limits.filter_text_bytes_max or len(text.encode("utf-8", "replace")) > (
        limits.filter_text_bytes_max
    ):
        raise _over("text", "bytes", limits.filter_text_bytes_max)
    if not text.strip():
        raise FilterError("the filter is empty", 0, "write TRUE to match every publication")
    try:
        tokens = tokenize(text)
    except TokenError as error:
        raise FilterError(*_token_error(text, error)) from None
    tokens = _merged(text, tokens)
    if not tokens:
        raise FilterError("the filter is only a comment", 0)
    _check_cost(tokens, limits)
    try:
        trees = _parse_deeply(tokens, text, limits)
    except ParseError as error:
        raise _parse_error(text, tokens, error) from None
    except RecursionError:
        raise _over("nesting", "levels", limits.filter_depth_max) from None
    except _STUMBLES:
        raise FilterError("not a WHERE clause") from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Expression):  # nothing but + or ELSE, say
        raise FilterError("not a WHERE clause", 0)
    return tree


def _parse_deeply(tokens: list[Token], text: str, limits: Limits) -> list[exp.Expr | None]:
    """The trees of a text; where Python's limit is too low for its nesting, with a higher one."""
    try:
        return _SPARK.parser().parse_into(exp.Condition, tokens, text)
    except RecursionError:
        before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + limits.filter_depth_max * _FRAMES_PER_LEVEL)
    try:
        return _SPARK.parser().parse_into(exp.Condition, tokens, text)
    finally:
        sys.setrecursionlimit(before)


def _merged(text: str, tokens: list[Token]) -> list[Token]:
    """The tokens with neighbouring strings joined as Spark 4 reads them.

    `'it''s'` is `it's`; `'a' 'b'` is `ab`. An `if` that calls nothing is a name.
    """
    merged: list[Token] = []
    for token, follower in zip_longest(tokens, tokens[1:]):
        last = merged[-1] if merged else None
        called = follower is not None and follower.token_type == TokenType.L_PAREN
        if token.token_type != TokenType.STRING and token.text.upper() == "IF" and not called:
            token.token_type = TokenType.IDENTIFIER
        if token.token_type == TokenType.STRING and last and last.token_type == TokenType.STRING:
            touching = last.end + 1 == token.start and text[last.end] == text[token.start]
            joined = last.text + (text[token.start] if touching else "") + token.text
            merged[-1] = Token(
                TokenType.STRING, joined, last.line, token.col, last.start, token.end
            )
        else:
            merged.append(token)
    return merged


def _check_cost(tokens: list[Token], limits: Limits) -> None:
    """Refuses what would be costly to parse: long literals, deep nesting, many predicates."""
    depth = run = 0
    predicates = 1
    for token in tokens:
        kind = token.token_type
        if kind == TokenType.SEMICOLON:
            raise FilterError("a filter is one condition", token.start)
        if kind in (TokenType.STRING, TokenType.NUMBER):
            if len(token.text.encode("utf-8", "replace")) > limits.literal_bytes_max:
                raise _over("a literal", "bytes", limits.literal_bytes_max, token.start)
        elif kind == TokenType.L_PAREN:
            depth += 1
        elif kind == TokenType.R_PAREN:
            depth -= 1
        elif kind in (TokenType.AND, TokenType.OR):
            predicates += 1
        elif kind == TokenType.BETWEEN:
            predicates -= 1
        run = run + 1 if kind in _PREFIXES else 0
        if depth + run > limits.filter_depth_max:
            raise _over("nesting", "levels", limits.filter_depth_max, token.start)
        if predicates > limits.predicates_max:
            raise _over("the filter", "predicates", limits.predicates_max, token.start)


def _over(what: str, unit: str, limit: int, position: int | None = None) -> FilterError:
    return FilterError(f"{what} exceeds the limit of {limit} {unit}", position, code="limit")


def _token_error(text: str, error: TokenError) -> tuple[str, int | None, str | None]:
    """Message, position and hint for a text that does not split into words."""
    for quote in ("'", '"', "`"):
        if text.count(quote) % 2:
            return f"a {quote} is opened and not closed", text.rfind(quote), None
    return f"cannot read the filter: {str(error).splitlines()[0]}", None, None


def _parse_error(text: str, tokens: list[Token], error: ParseError) -> FilterError:
    """The error of a text that is not a condition, with its place and a hint."""
    first = error.errors[0] if error.errors else {}
    highlight = first.get("highlight") or ""
    position = _position(text, first, highlight)
    for place, character in enumerate(text):
        if character in _FULL_WIDTH:
            plain = _FULL_WIDTH[character]
            hint = f"write {plain} instead of the full-width {character}"
            return FilterError("not a WHERE clause", place, hint)
    if tokens[0].token_type in _QUERIES:
        return FilterError("a filter cannot hold a subquery", tokens[0].start)
    opened: list[int] = []
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            opened.append(token.start)
        elif token.token_type == TokenType.R_PAREN and not opened:
            return FilterError("a parenthesis is closed and not opened", token.start)
        elif token.token_type == TokenType.R_PAREN:
            opened.pop()
    if opened:
        return FilterError("a parenthesis is opened and not closed", opened[-1])
    near = f" near {highlight!r}" if highlight else ""
    return FilterError(f"not a WHERE clause{near}", position)


def _position(text: str, place: dict[str, object], highlight: str) -> int | None:
    """The offset of an error that sqlglot gives as a line and an end column."""
    line, column = place.get("line"), place.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return None
    start = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
    return max(0, min(len(text), start + column - max(1, len(highlight))))
