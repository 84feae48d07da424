"""Many subscriptions at once: each has its verdict, and the whole set can be replaced."""

import wherecast as wc
from wherecast.broker.registrar.registrar import Registrar
from wherecast.broker.registrar.subscribe_all import SubscriptionBatch, put_all
from wherecast.model import Subscription, SubscriptionSpec
from wherecast.store.open_store import open_store

SCHEMA = wc.Schema.from_dict({"n": "int"})


def registrar() -> Registrar:
    made = Registrar(open_store("memory:"))
    made.define("default", SCHEMA, 0)
    made.register("ana", 0)
    return made


def wanted(*pairs: tuple[str, str], stream: str = "default") -> SubscriptionBatch:
    found = SubscriptionBatch()
    for id, filter in pairs:
        found.add(Subscription(id, filter, "ana", stream))
    return found


def test_each_has_its_verdict() -> None:
    made = registrar()
    first = put_all(made, "ana", wanted(("a", "n > 1"), ("b", "n > 1")), False, 0)
    assert (first["created"], first["rejected"]) == (2, 0)
    given = wanted(("a", "n > 1"), ("b", "n > 2"), ("c", "n >"), ("d", "n > 4"), ("d", "n > 5"))
    given.refuse({"code": "malformed", "message": "no"}, {"id": "e"})
    done = put_all(made, "ana", given, False, 0)
    assert [(one["id"], one["verdict"]) for one in done["verdicts"]] == [
        ("a", "unchanged"),
        ("b", "changed"),
        ("c", "rejected"),
        ("d", "created"),
        ("d", "rejected"),
        ("e", "rejected"),
    ]
    assert made.stored_specs("ana") == {
        "a": SubscriptionSpec("default", "n > 1"),
        "b": SubscriptionSpec("default", "n > 2"),
        "d": SubscriptionSpec("default", "n > 4"),
    }


def test_an_unknown_stream_is_told_of_each() -> None:
    done = put_all(registrar(), "ana", wanted(("a", "n > 1"), stream="defualt"), False, 0)
    assert done["verdicts"][0]["error"]["code"] == "unknown_stream"


def test_a_set_is_replaced_whole_or_not_at_all() -> None:
    made = registrar()
    put_all(made, "ana", wanted(("a", "n > 1"), ("b", "n > 1")), False, 0)
    bad = put_all(made, "ana", wanted(("c", "n > 1"), ("d", "n >")), True, 0)
    assert [one["verdict"] for one in bad["verdicts"]] == ["left_alone", "rejected"]
    assert made.stored_specs("ana").keys() == {"a", "b"}
    done = put_all(made, "ana", wanted(("b", "n > 1"), ("c", "n > 1")), True, 0)
    assert (done["created"], done["unchanged"], done["removed"]) == (1, 1, 1)
    assert made.stored_specs("ana").keys() == {"b", "c"}


def test_what_can_never_match_is_told_or_refused() -> None:
    made = registrar()
    given = (("a", "n > 5 AND n < 3"), ("b", "n > 1"))
    loose = put_all(made, "ana", wanted(*given), False, 0)["verdicts"]
    assert "can never match" in loose[0]["warnings"][0]
    assert "warnings" not in loose[1]
    strict = put_all(made, "ana", wanted(*given), False, 0, is_strict=True)["verdicts"]
    assert strict[0]["error"]["code"] == "never_matches"
    assert strict[1]["verdict"] == "unchanged"
