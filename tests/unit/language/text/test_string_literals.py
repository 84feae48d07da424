import pytest

from wherecast.language.text.string_literals import name_of, string_of
from wherecast.model import FilterError


# each row was compared with the parser of Spark 4.3
@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("''", ""),
        ("'it''s'", "it's"),
        ("'a\"\"b'", 'a""b'),
        (r"'a\"\"b\n'", 'a""b\n'),
        ('"say ""x"""', 'say "x"'),
        (r"'\u0041\Z\0\101'", "A\x1a\0A"),
        (r"'\%\_\q\b\t\r\\'", "\\%\\_q\b\t\r\\"),
        (r"'\8\400\12\u00'", "840012u00"),
        (r"'\U0001F600\ud83d\ude00'", "😀😀"),
        (r"r'a\n'", r"a\n"),
        ('R"a\\"', "a\\"),
    ],
)
def test_strings(written: str, text: str) -> None:
    assert string_of(written) == text


def test_half_a_character_stays_one() -> None:
    assert string_of(r"'\ud800'") == "\ud800"


def test_a_code_beyond_the_last_character() -> None:
    with pytest.raises(FilterError, match="stands for no character") as caught:
        string_of(r"'ab\U00110000'", 10)
    assert caught.value.position == 13


def test_names_in_back_quotes() -> None:
    assert name_of("`a``b`") == "a`b"
