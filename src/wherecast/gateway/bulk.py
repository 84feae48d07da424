"""Many subscriptions of a subscriber at once: read as columns, each with its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wherecast.gateway.registrar import Change, Registrar, Verdict, changes_of
from wherecast.language import read_filters
from wherecast.model import ConfigError, FilterError, Subscription

Told = dict[str, Any]
"""What is told of a problem: `code`, `message`, perhaps `position`."""


@dataclass(slots=True)
class Wanted:
    """The subscriptions of one call, in order, with those that were no subscriptions.

    Attributes:
        given: the subscriptions; None stands where something else was.
        problems: what is wrong, by place.
        ids: what each calls itself.
    """

    given: list[Subscription | None] = field(default_factory=list)
    problems: dict[int, Told] = field(default_factory=dict)
    ids: list[str | None] = field(default_factory=list)

    def add(self, one: Subscription) -> None:
        """Adds a subscription."""
        self.given.append(one)
        self.ids.append(one.id)

    def refuse(self, problem: Told, given: Any) -> None:
        """Adds something that is none."""
        id = given.get("id") if isinstance(given, Mapping) else None
        self.problems[len(self.given)] = problem
        self.given.append(None)
        self.ids.append(id[:256] if isinstance(id, str) else None)


def put_all(
    registrar: Registrar, subscriber: str, wanted: Wanted, replace: bool, now: int
) -> dict[str, Any]:
    """Adds or replaces subscriptions in one step, but for the bad ones; what became of each.

    Args:
        registrar: who does it.
        subscriber: whose they are.
        wanted: the subscriptions.
        replace: whether those that are not among the wanted ones end; nothing ends where one of
            the wanted ones is bad.
        now: the time.
    """
    problems = wanted.problems | _bad(registrar, wanted)
    if replace and problems:
        return _answer(wanted, problems, {}, 0, was_refused=True)
    with registrar.changing() as changing:
        changing.check_registered(subscriber)
        there = changing.standing(subscriber)
        verdicts: dict[int, Verdict] = {}
        changes = []
        for place, one in enumerate(wanted.given):
            if one is None or place in problems:
                continue
            before = there.get(one.id)
            if before == (one.stream, one.filter):
                verdicts[place] = "unchanged"
                continue
            verdicts[place] = "created" if before is None else "changed"
            changes.append(Change("subscribe", one.stream, subscriber, one.id, one.filter))
        ended = there.keys() - {one.id for one in wanted.given if one} if replace else set()
        changes += [Change("unsubscribe", there[id][0], subscriber, id) for id in sorted(ended)]
        if changes:
            changing.change(changes_of(changes), now)
    return _answer(wanted, problems, verdicts, len(ended))


def _bad(registrar: Registrar, wanted: Wanted) -> dict[int, Told]:
    """What is wrong with filters and streams, and with ids that come twice, by place."""
    problems: dict[int, Told] = {}
    seen: set[str] = set()
    by_stream: dict[str, list[int]] = {}
    for place, one in enumerate(wanted.given):
        if one is None:
            continue
        if one.id in seen:
            problems[place] = {"code": "duplicate_id", "message": f"id {one.id} comes twice"}
        else:
            seen.add(one.id)
            by_stream.setdefault(one.stream, []).append(place)
    for stream, places in by_stream.items():
        problems |= _bad_filters(registrar, stream, places, wanted.given)
    return problems


def _bad_filters(
    registrar: Registrar, stream: str, places: list[int], given: Sequence[Subscription | None]
) -> dict[int, Told]:
    try:
        schema = registrar.schema(stream)
    except ConfigError as error:
        told = {"code": "unknown_stream", "message": str(error)}
        return dict.fromkeys(places, told)
    texts = [one.filter for one in map(given.__getitem__, places) if one is not None]
    rejected = read_filters(texts, schema).rejected
    return {places[number]: _told(error) for number, error in rejected}


def _told(error: FilterError) -> Told:
    message = error.message if error.hint is None else f"{error.message}; {error.hint}"
    place = {} if error.position is None else {"position": error.position}
    return {"code": error.code, "message": message, **place}


def _answer(
    wanted: Wanted,
    problems: Mapping[int, Told],
    verdicts: Mapping[int, Verdict],
    removed: int,
    was_refused: bool = False,
) -> dict[str, Any]:
    """What is told of a call; the others of a refused one are told that they were left alone."""
    each: list[Told] = []
    counts = dict.fromkeys(("created", "changed", "unchanged", "rejected"), 0)
    for place, id in enumerate(wanted.ids):
        if place in problems:
            each.append({"id": id, "verdict": "rejected", "error": problems[place]})
            counts["rejected"] += 1
        elif was_refused:
            each.append({"id": id, "verdict": "left_alone"})
        else:
            each.append({"id": id, "verdict": verdicts[place]})
            counts[verdicts[place]] += 1
    return {**counts, "removed": removed, "verdicts": each}
