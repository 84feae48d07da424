"""What is published and subscribed in the crash tests: all of it follows from names and numbers.

Every filter stands here twice: as the WHERE text that the system gets, and as a plain function that
the verdict uses. So the verdict needs no part of the system to know what matches.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from wherecast import Schema

Attributes = dict[str, Any]
Meaning = Callable[[Attributes], bool]

SCHEMA = Schema.from_dict({"count": "int", "no2": "float", "city": "string"})
CITIES = ("Zagreb", "Split", "Rijeka", "Osijek")
SUBSCRIBERS = ("ana", "boris", "cvita", "dora", "eva")
PUBLISHERS = ("north", "south", "west")
_SLOTS = 4  # subscriptions of a subscriber
_COUNT_MAX = 1000


def publication_id(publisher: str, number: int) -> str:
    """The id of a publication."""
    return f"{publisher}-{number}"


@lru_cache(maxsize=4096)
def attributes_of(id: str) -> Attributes:
    """The attributes of the publication of an id."""
    draw = Random(id)
    row: Attributes = {"count": draw.randrange(_COUNT_MAX)}
    if draw.random() < 0.8:
        row["no2"] = draw.randrange(10_000) / 10
    if draw.random() < 0.7:
        row["city"] = draw.choice(CITIES)
    return row


def filter_of(number: int) -> tuple[str, Meaning]:
    """The filter of a change: its text and its meaning. No two have the same text."""
    draw = Random(f"filter {number}")
    city, other = draw.sample(CITIES, 2)
    count, no2 = draw.randrange(_COUNT_MAX), draw.randrange(1000)
    choices: list[tuple[str, Meaning]] = [
        (f"count < {count}", lambda a: a["count"] < count),
        (
            f"city = '{city}' AND no2 > {no2}",
            lambda a: a.get("city") == city and a.get("no2", -1) > no2,
        ),
        (
            f"city IN ('{city}', '{other}') OR count > {count}",
            lambda a: a.get("city") in (city, other) or a["count"] > count,
        ),
        (f"NOT (no2 <= {no2})", lambda a: "no2" in a and not a["no2"] <= no2),
        (
            f"no2 IS NULL AND count BETWEEN {count} AND {count + 300}",
            lambda a: "no2" not in a and count <= a["count"] <= count + 300,
        ),
    ]
    text, meaning = draw.choice(choices)
    return f"({text}) AND count <> {_COUNT_MAX + number}", meaning  # always true, so it only marks


@dataclass(frozen=True)
class Step:
    """One change of the script: a filter for a subscription, or its end where there is no text."""

    number: int
    subscriber: str
    id: str
    text: str


def script() -> Iterator[Step]:
    """The changes in their order, without end; each changes something."""
    standing: set[tuple[str, str]] = set()
    draw = Random("script")
    number = 0
    while True:
        key = draw.choice(SUBSCRIBERS), f"s{draw.randrange(_SLOTS)}"
        if key in standing and draw.random() < 0.4:
            standing.discard(key)
            yield Step(number, *key, "")
        else:
            standing.add(key)
            yield Step(number, *key, filter_of(number)[0])
        number += 1
