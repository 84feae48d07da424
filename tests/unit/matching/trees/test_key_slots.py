"""Attributes by number, their domains, and the keys of strings."""

from math import isnan

import pytest

from tests.unit.matching.trees.stores import SCHEMA
from wherecast.language.meaning.keys import float_key
from wherecast.matching.trees import key_slots as module
from wherecast.matching.trees.key_slots import REAL, STRANGE, UNLISTED, WHOLE, Slots


def slots_of(*names: str) -> Slots:
    slots = Slots()
    for name in names:
        attribute = SCHEMA.find(name)
        assert attribute is not None
        slots.number(attribute)
    return slots


def test_an_attribute_keeps_its_number() -> None:
    slots = slots_of("b", "a", "b")
    assert [a.name for a in slots.attributes] == ["b", "a"]
    assert len(slots) == 2


def test_domains() -> None:
    domains = slots_of("a", "b", "d", "t", "s").domains()
    assert domains.least[:2].tolist() == [float_key(0.0), -(2**63)]
    assert domains.most[0] == float_key(100.0)
    assert (domains.first[0], domains.last[0]) == (0.0, 100.0)
    assert isnan(domains.first[1])
    assert isnan(domains.last[1])
    assert domains.kinds.tolist() == [REAL, WHOLE, REAL, WHOLE, WHOLE]
    assert domains.steps.tolist() == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert (domains.least[3], domains.most[3]) == (0, 3)
    assert domains.least[4] == STRANGE, "so that a string that no filter names is inside"
    assert len(Slots().domains().least) == 1


def test_keys_of_strings() -> None:
    slots = slots_of("t", "s")
    assert [slots.constant_key(0, text) for text in ("low", "top", "else")] == [0, 3, UNLISTED]
    key = slots.constant_key(1, "x")
    assert 0 <= key < 2**62
    assert slots.value_keys(1, ["x", "y"]).tolist() == [key, STRANGE]
    assert slots.value_keys(0, ["mid"]).tolist() == [1]


def test_strings_that_share_a_hash_have_keys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_hash", lambda text: 2**62 - 1)
    slots = slots_of("s")
    keys = [slots.constant_key(0, text) for text in ("x", "y", "z", "x")]
    assert keys == [2**62 - 1, 0, 1, 2**62 - 1]
    slots.keep_strings({0})
    assert slots.value_keys(0, ["x", "y", "z"]).tolist() == [STRANGE, 0, STRANGE]
    assert slots.text_slots() == [0]
