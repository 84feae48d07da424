from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from wherecast.language import Filter
from wherecast.language.text.triples import parse_triples
from wherecast.model import FilterError, Limits, Schema

STOCKS = Schema.from_dict(
    {"class": "string", "volume": "int", "price": "float", "open": "bool", "at": "timestamp"}
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[class,eq,'STOCK'],[volume,>,300000]", "class = 'STOCK' AND volume > 300000"),
        (" [ class , eq , 'STOCK' ] , [ volume , > , 5 ] ", "class = 'STOCK' AND volume > 5"),
        ("[class,=,STOCK]", "class = 'STOCK'"),
        ('[class,eq,"ST, O]CK"]', "class = 'ST, O]CK'"),
        ("[class,eq,'it''s']", "class = 'it\\'s'"),
        (r"[class,eq,'it\'s']", "class = 'it\\'s'"),
        ("[class,eq,'a\nb']", "class = 'a\nb'"),
        ("[class,=,*]", "class IS NOT NULL"),
        ("[class,isPresent,'any']", "class IS NOT NULL"),
        ("[volume,isPresent,0]", "volume IS NOT NULL"),
        ("[volume,neq,-5]", "volume <> -5"),
        ("[volume,!=,+5]", "volume <> 5"),
        ("[price,<=,1.5e3]", "price <= 1500.0"),
        ("[price,<,.5]", "price < 0.5"),
        ("[open,eq,TRUE]", "open = TRUE"),
        ("[at,>,'2026-05-01']", "at > TIMESTAMP '2026-05-01T00:00:00Z'"),
        ("[class,str-prefix,'ST']", "startswith(class, 'ST')"),
        ("[class,str-suffix,'CK']", "endswith(class, 'CK')"),
        ("[class,STR-CONTAINS,'TO']", "contains(class, 'TO')"),
        ("[volume,between,1,5]", "volume BETWEEN 1 AND 5"),
        ("[volume,in,1,2,3]", "volume IN (1, 2, 3)"),
        ("[`class`,like,'S%']", "class LIKE 'S%'"),
    ],
)
def test_padres_text(text: str, where: str) -> None:
    filter = Filter(text, STOCKS)
    assert str(filter) == where
    assert Filter(where, STOCKS) == filter


@pytest.mark.parametrize(
    ("triple", "where"),
    [
        (("volume", "GREATER_THAN", 300_000), "volume > 300000"),
        (("volume", "LESS_OR_EQUAL", -1), "volume <= -1"),
        (("volume", 5, "EQUAL"), "volume = 5"),
        (("class", "NOT_EQUAL", "x"), "class <> 'x'"),
        (("class", "STARTS_WITH_STRING", "x"), "startswith(class, 'x')"),
        (("class", "ENDS_WITH_STRING", "x"), "endswith(class, 'x')"),
        (("class", "CONTAINS_STRING", "x"), "contains(class, 'x')"),
        (("volume", "BETWEEN", (1, 5)), "volume BETWEEN 1 AND 5"),
        (("volume", "IN", [1, 2]), "volume IN (1, 2)"),
        (("class", "IN", {"b", "a", "c"}), "class IN ('a', 'b', 'c')"),
        (("class", "not in", ["a", None]), "class NOT IN ('a', NULL)"),
        (("class", "is null"), "class IS NULL"),
        (("class", "=", None), "NULL"),
        (("price", ">", Decimal("0.1")), "price > 0.1"),
        (("price", ">", np.float64(0.1)), "price > 0.1"),
        (("volume", ">", np.int64(5)), "volume > 5"),
        (("price", ">", 1e-7), "price > 1e-07"),
        (("volume", ">", 2**53 + 1), "volume > 9007199254740993"),
        (("open", "=", False), "open = FALSE"),
        (("at", ">", datetime(2026, 5, 1)), "at > TIMESTAMP '2026-05-01T00:00:00Z'"),
        (["class", "ilike", "x%"], "class ILIKE 'x%'"),
    ],
)
def test_python_triples(triple: Any, where: str) -> None:
    assert str(Filter.from_triples([triple], STOCKS)) == where


def test_triples_are_joined_by_and() -> None:
    filter = Filter.from_triples([("volume", ">", 1), ("price", "<", 2)], STOCKS)
    assert filter.matches({"volume": 2, "price": 1})
    assert not filter.matches({"volume": 2, "price": 2})


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("[]", "not a list of triples", 0),
        ("[ ,=,5]", "not a list of triples", 0),
        ("[volume,>,5", "a triple is not closed", 9),
        ("[volume,>]", "> takes 1 value, not 0", 1),
        ("[volume,between,5]", "between takes 2 values, not 1", 1),
        ("[volume,=,1,2]", "= takes 1 value, not 2", 1),
        ("[volume,>,5][price,>,5]", "expected a comma between triples", 12),
        ("[volume,>,5],", "not a list of triples", 13),
        ("[volume, gt ,5]", "unknown operator gt", 9),
        ("[price,>,  'a']", "price needs a number, not the string a", 11),
        ("[volume,>,  a b ]", "volume needs a number, not the string a b", 12),
        ("[class,eq,5]", "class needs a string, not the number 5", 10),
        ("[nope,eq,5]", "unknown attribute nope", 1),
    ],
)
def test_bad_padres_text(text: str, message: str, position: int) -> None:
    with pytest.raises(FilterError) as caught:
        Filter(text, STOCKS)
    assert (caught.value.message, caught.value.position) == (message, position)


@pytest.mark.parametrize(
    "triples",
    [
        [], ["abc"], [()], [("volume",)], [("volume", ">", 1, 2)], [(5, ">", 1)],
        [("volume", ["="], 1)], [("volume", ">", [[1]])], [("volume", ">", {})],
        [("price", ">", float("nan"))], [("price", ">", float("inf"))],
        [("price", ">", Decimal("sNaN"))], [("volume", "=", True)], [("volume", "like", "1")],
        [("volume", ">", 10**400)], [("volume", ">", 10**5000)], [("volume", "between", [1])],
        [("class", "=", "x" * 5000)], [("class", "like", "\\a")],
    ],
    ids=lambda triples: f"{len(triples)} triples",
)  # fmt: skip
def test_bad_python_triples(triples: Any) -> None:
    with pytest.raises(FilterError):
        Filter.from_triples(triples, STOCKS)


def test_limits_hold_for_triples_too() -> None:
    few = Limits(predicates_max=2, in_values_max=3)
    for triples in ([("volume", ">", 1)] * 3, [("volume", "in", [1, 2, 3, 4])]):
        with pytest.raises(FilterError, match="exceeds the limit") as caught:
            Filter.from_triples(triples, STOCKS, few)
        assert caught.value.code == "limit"
    with pytest.raises(FilterError, match="text exceeds the limit"):
        Filter("[class,eq,'" + "a" * 70_000 + "']", STOCKS)


@pytest.mark.parametrize(
    "text",
    ["[" + " " * 60_000, "[a,=" + ", " + " " * 60_000, "[a" + " " * 30_000 + "b" + " " * 30_000,
     "[a,=,'" + "''" * 30_000, "[a,=,'" + "\\" * 60_000, "[a,=,1]," * 8000 + "["],
    ids=["spaces", "spaces for a value", "inner spaces", "quotes", "backslashes", "triples"],
)  # fmt: skip
def test_a_hostile_text_ends_quickly(text: str) -> None:
    """A step that backtracks would take hours for one of these."""
    with pytest.raises(FilterError):
        parse_triples(text)
