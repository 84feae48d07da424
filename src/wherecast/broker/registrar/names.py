"""Names that people give: streams, subscribers, publishers and subscriptions.

A name that begins with `@` is kept for brokers, which write such names to the log themselves.
"""

from typing import Literal

from wherecast.model import ConfigError
from wherecast.model.values import describe, is_text

NAME_CHARACTERS_MAX = 256
RESERVED = "@"

Named = Literal["stream", "subscriber", "publisher", "subscription id"]


def checked_name(what: Named, name: object) -> None:
    """Raises ConfigError unless a value is a name that may be given.

    A name is a string with at least one character, not too long, and valid Unicode. Only the id of
    a subscription may begin with `@`.
    """
    if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARACTERS_MAX or not is_text(name):
        most = NAME_CHARACTERS_MAX
        raise ConfigError(f"a {what} is a string of 1 to {most} characters, not {describe(name)}")
    if name.startswith(RESERVED) and what != "subscription id":
        raise ConfigError(f"the name of a {what} does not begin with {RESERVED}: {name!r}")
