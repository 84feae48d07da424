import pytest

from wherecast.language.text.tokens import (
    DIGITS,
    END,
    MISTAKE,
    NAME,
    NUMBER,
    OPERATOR,
    QUOTED,
    STRING,
    UNCLOSED,
    UNKNOWN,
    comment_end,
    tokens_of,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a.b >= 5", [(NAME, "a.b"), (OPERATOR, ">="), (NUMBER, "5")]),
        ("`x``y` -- c\n", [(QUOTED, "`x``y`")]),
        ("5L 1.5BD 1e-5 .5 5.", [(NUMBER, word) for word in ("5L", "1.5BD", "1e-5", ".5", "5.")]),
        ("5e 1_0 2nd", [(DIGITS, "5e"), (DIGITS, "1_0"), (DIGITS, "2nd")]),
        (r"'it''s' 'a\'b' r'\'", [(STRING, "'it''s'"), (STRING, r"'a\'b'"), (STRING, r"r'\'")]),
        ("a/*x/*y*/z*/::b", [(NAME, "a"), (OPERATOR, "::"), (NAME, "b")]),
        ("a=>b||c", [(NAME, "a"), (MISTAKE, "=>"), (NAME, "b"), (MISTAKE, "||"), (NAME, "c")]),
        ("< <=> <> !=", [(OPERATOR, sign) for sign in ("<", "<=>", "<>", "!=")]),
        ("≥ ?", [(UNKNOWN, "≥"), (UNKNOWN, "?")]),
    ],
)
def test_tokens(text: str, tokens: list[tuple[int, str]]) -> None:
    found = list(tokens_of(text))
    assert [(kind, word) for kind, word, _ in found] == [*tokens, (END, "")]
    assert all(text.startswith(word, place) for _, word, place in found)


@pytest.mark.parametrize("text", ["a = 'b c", 'a "b', "`a", "a /* b /* */", "r'a"])
def test_what_is_not_closed_ends_the_text(text: str) -> None:
    assert list(tokens_of(text))[-1].kind == UNCLOSED


def test_comments_nest() -> None:
    assert comment_end("/* a /* b */ c */ d", 0) == 17
    assert comment_end("/* a /* b */", 0) == -1
