"""Many subscriptions of a subscriber at once: read as columns, each with its verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wherecast.broker.registrar.registrar import Registrar, Verdict
from wherecast.broker.registrar.registry_changes import RegistryChange, changes_of
from wherecast.language import Filter, read_filters
from wherecast.model import ConfigError, FilterError, Subscription
from wherecast.model.values import is_text

Told = dict[str, Any]
"""What is told of a problem: `code`, `message`, perhaps `position`."""

_STEP = 10_000  # changes of one transaction, so that publishers come in between


@dataclass(slots=True)
class Wanted:
    """The subscriptions of one call, in order, with those that were no subscriptions.

    Attributes:
        given: the subscriptions; None stands where something else was.
        problems: what is wrong, by place.
        warnings: what is odd about filters, by place, once they were read.
        ids: what each calls itself.
    """

    given: list[Subscription | None] = field(default_factory=list)
    problems: dict[int, Told] = field(default_factory=dict)
    warnings: dict[int, tuple[str, ...]] = field(default_factory=dict)
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
        self.ids.append(id[:256] if isinstance(id, str) and is_text(id) else None)


def put_all(
    registrar: Registrar,
    subscriber: str,
    wanted: Wanted,
    replace: bool,
    now: int,
    is_strict: bool = False,
) -> dict[str, Any]:
    """Adds or replaces subscriptions, but for the bad ones; what became of each.

    Args:
        registrar: who does it.
        subscriber: whose they are.
        wanted: the subscriptions.
        replace: whether those that are not among the wanted ones end. Then all is one step, and
            nothing changes where one of the wanted ones is bad.
        now: the time.
        is_strict: whether a filter that can never match is a bad one.

    Raises:
        ConfigError: the subscriber is not registered, or would have too many.
    """
    problems = wanted.problems | _bad(registrar, wanted, is_strict)
    if replace and problems:
        return _answer(wanted, problems, {}, 0, was_refused=True)
    good = [(place, one) for place, one in enumerate(wanted.given) if one and place not in problems]
    ids = [one.id for _, one in good]
    with registrar.changing() as changing:
        changing.check_registered(subscriber)
        there = changing.standing(subscriber, None if replace else ids)
        verdicts = {place: _verdict(one, there.get(one.id)) for place, one in good}
        changes = [
            RegistryChange("subscribe", one.stream, subscriber, one.id, one.filter)
            for place, one in good
            if verdicts[place] != "unchanged"
        ]
        ended = sorted(there.keys() - set(ids)) if replace else []
        changes += [RegistryChange("unsubscribe", there[id][0], subscriber, id) for id in ended]
        created = sum(verdict == "created" for verdict in verdicts.values())
        changing.make_room(subscriber, created - len(ended))
        step = max(1, len(changes)) if replace else _STEP
        for start in range(0, len(changes), step):
            changing.change(changes_of(changes[start : start + step]), now)
    return _answer(wanted, problems, verdicts, len(ended))


def _verdict(one: Subscription, before: tuple[str, str] | None) -> Verdict:
    if before is None:
        return "created"
    return "unchanged" if before == (one.stream, one.filter) else "changed"


def _bad(registrar: Registrar, wanted: Wanted, is_strict: bool) -> dict[int, Told]:
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
        problems |= _bad_filters(registrar, stream, places, wanted)
    if is_strict:
        for place, (warning, *_) in wanted.warnings.items():
            problems[place] = {"code": "never_matches", "message": warning}
    return problems


def _bad_filters(
    registrar: Registrar, stream: str, places: list[int], wanted: Wanted
) -> dict[int, Told]:
    """What is wrong with filters of a stream, by place; what is odd about others is noted."""
    try:
        schema = registrar.schema(stream)
    except ConfigError as error:
        told = {"code": "unknown_stream", "message": str(error)}
        return dict.fromkeys(places, told)
    texts = [one.filter for one in map(wanted.given.__getitem__, places) if one is not None]
    read = read_filters(texts, schema)
    problems = {places[number]: _told(error) for number, error in read.rejected}
    for number in np.flatnonzero(np.diff(read.conjunction_offsets) == 0).tolist():
        if places[number] not in problems:
            wanted.warnings[places[number]] = Filter(texts[number], schema).warnings
    return problems


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
            odd = {"warnings": wanted.warnings[place]} if place in wanted.warnings else {}
            each.append({"id": id, "verdict": verdicts[place], **odd})
            counts[verdicts[place]] += 1
    return {**counts, "removed": removed, "verdicts": each}
