from typing import Any

import pytest

from wherecast.broker.registrar.names import Named, checked_name
from wherecast.model import ConfigError

WHATS: tuple[Named, ...] = ("stream", "subscriber", "publisher", "subscription id")


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", ["", None, 5, b"x", "a" * 257, "\ud800"])
def test_what_is_no_name(what: Named, name: Any) -> None:
    with pytest.raises(ConfigError, match=f"a {what} is a string of 1 to 256 characters"):
        checked_name(what, name)


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", ["a", "a@b", " @b", "ž", "a" * 256])
def test_names(what: Named, name: str) -> None:
    checked_name(what, name)


@pytest.mark.parametrize("what", WHATS[:3])
@pytest.mark.parametrize("name", ["@", "@b1", "@@"])
def test_names_of_brokers_are_reserved(what: Named, name: str) -> None:
    with pytest.raises(ConfigError, match=f"the name of a {what} does not begin with @: '{name}'"):
        checked_name(what, name)
    checked_name("subscription id", name)
