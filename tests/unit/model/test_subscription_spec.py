"""Options of a subscription are written canonically, and damaged text is named."""

import json

import pytest

from wherecast.model import ConfigError, Subscription, SubscriptionSpec

PLAIN = SubscriptionSpec("air", "no2 > 40")
FULL = SubscriptionSpec("air", "no2 > 40", 2**62, "ORDER BY no2 LIMIT 3", -2, True, "ž")


def test_plain_subscriptions_have_no_options() -> None:
    assert PLAIN.options_json() == ""
    assert SubscriptionSpec.read("air", "no2 > 40", "") == PLAIN


def test_options_are_canonical() -> None:
    text = FULL.options_json()
    assert text == (
        '{"notices":true,"owner":"ž","priority":-2,"rank":"ORDER BY no2 LIMIT 3",'
        '"valid_until":4611686018427387904}'
    )
    assert SubscriptionSpec.read("air", "no2 > 40", text) == FULL
    assert SubscriptionSpec("", "", priority=1).options_json() == '{"priority":1}'


def test_every_field_counts_in_a_comparison() -> None:
    for name, value in json.loads(FULL.options_json()).items():
        assert SubscriptionSpec("air", "no2 > 40", **{name: value}) != PLAIN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the options of a subscription are no JSON"),
        ("[" * 100_000, "the options of a subscription are no JSON"),
        ("7", "the options of a subscription are an object, not"),
        ('{"prio":1}', "a subscription has no option prio"),
        ('{"ownr":"x"}', "did you mean owner"),
        ('{"priority":true}', "option priority of a subscription is a whole number"),
        ('{"priority":1.0}', "option priority"),
        ('{"priority":9223372036854775808}', "option priority"),
        ('{"valid_until":"soon"}', "option valid_until of a subscription is a time"),
        ('{"notices":1}', "option notices of a subscription is true or false"),
        ('{"owner":null}', "option owner of a subscription is text"),
        ('{"rank":"\\ud800"}', "option rank of a subscription is text"),
    ],
)
def test_damaged_options_are_named(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SubscriptionSpec.read("air", "no2 > 40", text)


@pytest.mark.parametrize("spec", [PLAIN, FULL, SubscriptionSpec("a", "b", -(2**63))])
@pytest.mark.parametrize("at", [0, 1_500_000, -5])
def test_an_accepted_subscription_has_its_spec(spec: SubscriptionSpec, at: int) -> None:
    accepted = Subscription.accepted("ana", "s1", spec, at)
    assert (accepted.subscriber, accepted.id, accepted.accepted_at) == ("ana", "s1", at)
    assert accepted.spec(at) == spec


def test_before_its_acceptance_a_subscription_has_no_time() -> None:
    assert Subscription("s1", "no2 > 40", stream="air").accepted_at is None
    assert Subscription("s1", "no2 > 40", stream="air").spec(7) == PLAIN
