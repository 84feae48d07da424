"""The refusal of another schema for a stream, which names the subscriptions it would break."""

from collections.abc import Iterator

from wherecast.language import read_filters
from wherecast.model import Schema, Subscription
from wherecast.store.contracts import Registry

_LOOKED_AT_MAX = 100_000  # subscriptions
_NAMED_MAX = 5
_AT_ONCE = 1_000


def refusal_of(registry: Registry, stream: str, schema: Schema) -> str:
    """Why a stream keeps its schema, with the subscriptions that another one would break."""
    text = f"stream {stream} is there with another schema, and what is published has its own"
    broken: list[Subscription] = []
    for some in _subscriptions(registry, stream):
        read = read_filters([one.filter for one in some], schema)
        broken += [some[number] for number, _ in read.rejected]
    if not broken:
        return f"{text}; define another stream"
    named = ", ".join(f"{one.id} of {one.subscriber}" for one in broken[:_NAMED_MAX])
    more = f" and {len(broken) - _NAMED_MAX} more" if len(broken) > _NAMED_MAX else ""
    return f"{text}; subscriptions that could not be read with it: {named}{more}"


def _subscriptions(registry: Registry, stream: str) -> Iterator[list[Subscription]]:
    """The subscriptions to a stream, page by page, up to a limit."""
    left, after = _LOOKED_AT_MAX, ""
    while left > 0 and (names := registry.subscribers(after)):
        for name in names:
            last = ""
            while left > 0 and (some := registry.subscriptions(name, last, _AT_ONCE)):
                left, last = left - len(some), some[-1].id
                own = [one for one in some if one.stream == stream]
                if own:
                    yield own
        after = names[-1]
