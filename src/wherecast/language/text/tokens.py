"""Cuts the text of a filter into tokens with one regular expression, in linear time.

All quantifiers are possessive: the expression never goes back. A quote or a comment that is not
closed is a token of its own, which ends the reading; otherwise each further quote would look for
its end again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# the kinds of tokens are the numbers of the groups
NAME, QUOTED, NUMBER, STRING, MISTAKE, OPERATOR, DIGITS, COMMENT, UNCLOSED, UNKNOWN, END = range(
    1, 12
)

TOKEN = re.compile(
    r"""\s*+(?:--(?:\\\n|[^\r\n])*+\s*+)*+(?:
  (?![rR]['"])([^\W\d]\w*+(?:\.[^\W\d]\w*+)*+)
 |(`(?:[^`]|``)*+`)
 |((?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+(?:[bB][dD]|[lLsSyYdDfF])?+(?!\w))
 |('(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|[rR](?:'[^']*+'|"[^"]*+"))
 |(=>|=<|->|\|\|?+|&&?+|<<|>>>?+)
 |(<=>|<>|<=|>=|==|!=|!<|!>|::|[-=<>+*%(),.\[\]!]|/(?!\*))
 |([0-9]\w*+)
 |(/\*)
 |([rR]?+['"]|`)
 |(.)
 |(\Z))""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")


class Token(NamedTuple):
    """A token: its kind, its text as written, and its place."""

    kind: int
    text: str
    place: int


def tokens_of(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text up to its end, or up to what is opened and not closed."""
    at = start
    while True:
        match = TOKEN.match(text, at)
        assert match is not None
        kind = match.lastindex
        assert kind is not None
        token = Token(kind, match[kind], match.start(kind))
        at = match.end()
        if kind == COMMENT:
            at = comment_end(text, token.place)
            if at < 0:
                yield token._replace(kind=UNCLOSED)
                return
            continue
        yield token
        if kind in (END, UNCLOSED):
            return


def comment_end(text: str, place: int) -> int:
    """Where the comment that begins at a place ends; -1 where it does not. Comments may nest."""
    depth = 0
    for mark in _COMMENT_MARK.finditer(text, place):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return -1
