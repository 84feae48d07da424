"""Parts of a JSON document that could not be read, in the places where they stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reason why a row or a value could not be read; stands in its place."""

    code: str
    text: str


def unreadable_in(document: object) -> Iterator[tuple[tuple[str | int, ...], Unreadable]]:
    """The unreadable parts of a document, each with the keys that lead to it."""
    waiting: list[tuple[tuple[str | int, ...], object]] = [((), document)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, Unreadable):
            yield keys, value
        elif isinstance(value, Mapping):
            waiting += [((*keys, str(key)), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((*keys, place), inner) for place, inner in enumerate(value)]
