"""All functions by name, and the other names that Spark has for some of them."""

from wherecast.language.meaning.functions.choices import CHOICES
from wherecast.language.meaning.functions.lists import LISTS
from wherecast.language.meaning.functions.matching import MATCHING
from wherecast.language.meaning.functions.numbers import NUMBERS
from wherecast.language.meaning.functions.places import PLACES
from wherecast.language.meaning.functions.signature import Function
from wherecast.language.meaning.functions.texts import TEXTS
from wherecast.language.meaning.functions.times import TIMES

FUNCTIONS: dict[str, Function] = {
    **NUMBERS, **TEXTS, **TIMES, **CHOICES, **LISTS, **MATCHING, **PLACES,
}  # fmt: skip
NAMES: dict[str, str] = {
    "ceiling": "ceil",
    "char_length": "length",
    "character_length": "length",
    "dayofmonth": "day",
    "ifnull": "coalesce",
    "len": "length",
    "mod": "%",
    "nvl": "coalesce",
    "substr": "substring",
    "starts_with": "prefix",
    "startswith": "prefix",
    "ends_with": "suffix",
    "endswith": "suffix",
    "regexp": "rlike",
    "regexp_like": "rlike",
    "lcase": "lower",
    "ucase": "upper",
}
"""Other names of functions."""
SHOWN: dict[str, str] = {
    "like": "LIKE",
    "ilike": "ILIKE",
    "rlike": "RLIKE",
    "prefix": "starts_with",
    "suffix": "ends_with",
}
"""The names that errors give to functions, where these are not their own."""
_INTERNAL = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "div",
        "negative",
        "later",
        "earlier",
        "elapsed",
        "case",
        "element",
        "=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "like",
        "ilike",
        "prefix",
        "suffix",
    ]
)
CALLABLE = frozenset(FUNCTIONS) - _INTERNAL | frozenset(NAMES)
"""The names that a filter may call, besides `now`, `current_timestamp` and `if`."""
