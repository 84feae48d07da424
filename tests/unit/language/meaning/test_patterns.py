import pytest

from wherecast.language.meaning.patterns import (
    ANY,
    ONE,
    PatternProblem,
    _forms,
    count_wildcards,
    ilike,
    like,
    plain_form,
    read_like,
)


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("", "", True), ("a", "", False), ("", "%", True), ("", "_", False), ("", "%%", True),
        ("abc", "abc", True), ("abc", "ab", False), ("abc", "ab%", True), ("ab", "ab%", True),
        ("abc", "%c", True), ("abc", "%b", False), ("abc", "a%c", True), ("ac", "a%c", True),
        ("abc", "a_c", True), ("ac", "a_c", False), ("abc", "___", True), ("abc", "__", False),
        ("aXbXc", "a%b%c", True), ("acb", "a%b%c", False), ("ab", "%a%b%", True),
        ("aa", "a%a", True), ("a", "a%a", False), ("aab", "a%ab", True), ("abab", "%ab_", False),
        ("abcabd", "%ab_", True), ("a%b", r"a\%b", True), ("axb", r"a\%b", False),
        ("a_b", r"a\_b", True), ("axb", r"a\_b", False), ("a\\b", r"a\\b", True),
        ("a.b", "a.b", True), ("axb", "a.b", False), ("a*", "a*", True), ("[a]", "[a]", True),
        ("a\nb", "a_b", True), ("a\nb", "a%b", True), ("😀", "_", True), ("e\u0301", "_", False),
        ("a\0b", "a\0b", True), ("A", "a", False), ("ä", "%ä%", True),
    ],
)  # fmt: skip
def test_like(value: str, pattern: str, expected: bool) -> None:
    assert like(value, pattern, "\\") == expected


def test_another_escape() -> None:
    assert like("50%", "50!%", "!")
    assert not like("500", "50!%", "!")
    assert like("a!b", "a!!b", "!")
    assert like("a\\b", "a\\b", "!")


@pytest.mark.parametrize("pattern", ["\\", "a\\", "a\\b", "\\\\\\"])
def test_an_escape_stands_before_a_wildcard_or_itself(pattern: str) -> None:
    with pytest.raises(PatternProblem, match="escape character"):
        read_like(pattern, "\\")


def test_ilike_lowers_both_sides() -> None:
    assert ilike("ABC", "a%", "\\")
    assert ilike("ÉCOLE", "é%", "\\")
    assert ilike("i\u0307", "İ", "\\")
    assert ilike("axb", "aXb", "X")  # the lowered pattern has no escape left


def test_symbols_and_wildcards() -> None:
    assert read_like(r"a%\%_", "\\").symbols == ("a", ANY, "%", ONE)
    assert count_wildcards(r"a%\%_", "\\") == 2
    assert count_wildcards("a%_", "\\") == 2


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", (None, "abc")), ("", (None, "")), ("ab%", ("prefix", "ab")),
        ("%ab", ("suffix", "ab")), ("%ab%", ("contains", "ab")), ("%", ("suffix", "")),
        ("%%", ("contains", "")), (r"a\%%", ("prefix", "a%")), (r"\_", (None, "_")),
        ("a%b", None), ("_", None), ("%%%", None), ("a_%", None),
    ],
)  # fmt: skip
def test_the_plain_test_that_a_pattern_amounts_to(pattern: str, expected: object) -> None:
    assert plain_form(pattern, "\\") == expected


def test_a_hostile_pattern_ends() -> None:
    """With backtracking over 32 wildcards it never would."""
    value = "a" * 20_000
    assert not like(value, "%a" * 31 + "%b", "\\")
    assert not like(value, "%a_a" * 15 + "%b%", "\\")
    assert like(value + "b", "%a" * 31 + "%b", "\\")
    assert not like(value, "_" * 32 + "%" + "a" * 3000 + "b", "\\")


def test_forms_that_were_read_and_dropped_take_bounded_memory() -> None:
    for number in range(4_000):
        assert not like("a", f"{number}_" + "x" * 8_000 + "%", "\\")
    assert _forms.nbytes <= 16 * 1024 * 1024
    assert len(_forms) > 100
