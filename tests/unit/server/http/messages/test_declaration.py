"""Each message is declared once: it describes itself, and its example is one."""

import pkgutil
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("fastapi")

import orjson
from pydantic import ValidationError
from typing_extensions import is_typeddict

from wherecast.server.http import messages
from wherecast.server.http.messages.declaration import adapter_of, example_of, schema_of, write
from wherecast.server.http.messages.subscriber_messages import SubscriberMessage
from wherecast.server.http.messages.subscription_messages import SubscriptionsMessage

MODULES = [
    import_module(f"{messages.__name__}.{one.name}")
    for one in pkgutil.iter_modules(messages.__path__)
]
MESSAGES = {
    name: kind
    for module in MODULES
    for name, kind in vars(module).items()
    if is_typeddict(kind) and kind.__module__.startswith(messages.__name__)
}


@pytest.mark.parametrize("name", MESSAGES)
def test_an_example_is_what_its_message_declares(name: str) -> None:
    kind: Any = MESSAGES[name]
    example = example_of(kind)
    assert adapter_of(kind).validate_python(example) == example
    assert orjson.loads(write(example)) == example
    if isinstance(example, dict):
        with pytest.raises(ValidationError):
            adapter_of(kind).validate_python({**example, "other": 1})


def test_a_schema_is_complete_in_itself() -> None:
    assert len(MESSAGES) > 25
    for kind in MESSAGES.values():
        assert b"$ref" not in orjson.dumps(schema_of(kind))
    inner = schema_of(SubscriptionsMessage)["properties"]["subscriptions"]["items"]
    assert inner["properties"]["filter"]["description"] == "A WHERE clause."


def test_values_are_checked_strictly() -> None:
    given = {**example_of(SubscriberMessage), "queued": "2"}
    with pytest.raises(ValidationError):
        adapter_of(SubscriberMessage).validate_python(given)


def test_a_decimal_keeps_its_digits_and_other_things_are_refused() -> None:
    assert write({"price": Decimal("12.50")}) == b'{"price":"12.50"}'
    with pytest.raises(TypeError):
        write({"price": object()})


def test_a_lone_surrogate_can_be_quoted() -> None:
    told = write({"error": {"message": "at \ud800, \U0001f600", "\udfff": ["\ud800"]}})
    assert told.decode() == (
        '{"error":{"message":"at \N{REPLACEMENT CHARACTER}, \U0001f600",'
        '"\N{REPLACEMENT CHARACTER}":["\N{REPLACEMENT CHARACTER}"]}}'
    )
