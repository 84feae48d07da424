"""Many subscriptions of a subscriber at once: read as columns, each with its verdict."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wherecast.broker.registrar.registrar import Registrar
from wherecast.broker.registrar.subscribe_outcome import Verdict
from wherecast.language import Filter, read_filters
from wherecast.model import ConfigError, FilterError, Subscription
from wherecast.model.values import is_text

ProblemFields = dict[str, Any]
"""The fields of an error in an answer: `code`, `message`, perhaps `position`."""

_CHANGES_MAX = 10_000  # of one transaction, so that publishers come in between


@dataclass(slots=True)
class SubscriptionBatch:
    """The subscriptions of one call, in order, with lines that are no subscriptions.

    Attributes:
        given: the subscriptions; None stands for a line that is none.
        ids: the id of each line, if it has one.
        problems: errors by row.
        warnings: warnings of filters by row, once they were read.
    """

    given: list[Subscription | None] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    problems: dict[int, ProblemFields] = field(default_factory=dict)
    warnings: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, one: Subscription) -> None:
        """Adds a subscription."""
        self.given.append(one)
        self.ids.append(one.id)

    def refuse(self, problem: ProblemFields, given: Any) -> None:
        """Adds a line that is no subscription."""
        id = given.get("id") if isinstance(given, Mapping) else None
        self.problems[len(self.given)] = problem
        self.given.append(None)
        self.ids.append(id[:256] if isinstance(id, str) and is_text(id) else None)


def put_all(
    registrar: Registrar,
    subscriber: str,
    batch: SubscriptionBatch,
    replace: bool,
    now: int,
    is_strict: bool = False,
) -> dict[str, Any]:
    """Adds or replaces subscriptions, but for the bad ones; gives the answer to the call.

    Args:
        registrar: changes the registry.
        subscriber: has the subscriptions.
        batch: the subscriptions.
        replace: whether the batch becomes the whole set. Then all is one step, and nothing changes
            where one of the subscriptions is bad.
        now: the time.
        is_strict: whether a filter that can never match is a bad one.

    Raises:
        ConfigError: the subscriber is not registered, or would have too many.
    """
    problems = batch.problems | _problems(registrar, batch, is_strict)
    if replace and problems:
        return _answer(batch, problems, {}, 0, was_refused=True)
    good = {row: one for row, one in enumerate(batch.given) if one and row not in problems}
    changes_max = sys.maxsize if replace else _CHANGES_MAX
    done = registrar.put(subscriber, list(good.values()), now, replace, changes_max)
    return _answer(batch, problems, dict(zip(good, done.verdicts, strict=True)), done.removed)


def _problems(
    registrar: Registrar, batch: SubscriptionBatch, is_strict: bool
) -> dict[int, ProblemFields]:
    """Problems of filters and streams, and of ids that come twice, by row."""
    problems: dict[int, ProblemFields] = {}
    ids: set[str] = set()
    by_stream: dict[str, list[int]] = {}
    for row, one in enumerate(batch.given):
        if one is None:
            continue
        if one.id in ids:
            problems[row] = {"code": "duplicate_id", "message": f"id {one.id} comes twice"}
        else:
            ids.add(one.id)
            by_stream.setdefault(one.stream, []).append(row)
    for stream, rows in by_stream.items():
        problems |= _filter_problems(registrar, stream, rows, batch)
    if is_strict:
        for row, (warning, *_) in batch.warnings.items():
            problems[row] = {"code": "never_matches", "message": warning}
    return problems


def _filter_problems(
    registrar: Registrar, stream: str, rows: list[int], batch: SubscriptionBatch
) -> dict[int, ProblemFields]:
    """Problems of the filters of a stream, by row; warnings of the others go to the batch."""
    try:
        schema = registrar.schema(stream)
    except ConfigError as error:
        return {row: {"code": "unknown_stream", "message": str(error)} for row in rows}
    texts = [one.filter for one in map(batch.given.__getitem__, rows) if one is not None]
    read = read_filters(texts, schema)
    problems = {rows[number]: _fields_of(error) for number, error in read.rejected}
    for number in np.flatnonzero(np.diff(read.conjunction_offsets) == 0).tolist():
        if rows[number] not in problems:
            batch.warnings[rows[number]] = Filter(texts[number], schema).warnings
    return problems


def _fields_of(error: FilterError) -> ProblemFields:
    message = error.message if error.hint is None else f"{error.message}; {error.hint}"
    position = {} if error.position is None else {"position": error.position}
    return {"code": error.code, "message": message, **position}


def _answer(
    batch: SubscriptionBatch,
    problems: Mapping[int, ProblemFields],
    verdicts: Mapping[int, Verdict],
    removed: int,
    was_refused: bool = False,
) -> dict[str, Any]:
    """The answer to a call; the good lines of a refused one are told that they were left alone."""
    each: list[dict[str, Any]] = []
    counts = dict.fromkeys(("created", "changed", "unchanged", "rejected"), 0)
    for row, id in enumerate(batch.ids):
        if row in problems:
            each.append({"id": id, "verdict": "rejected", "error": problems[row]})
            counts["rejected"] += 1
        elif was_refused:
            each.append({"id": id, "verdict": "left_alone"})
        else:
            warnings = {"warnings": batch.warnings[row]} if row in batch.warnings else {}
            each.append({"id": id, "verdict": verdicts[row], **warnings})
            counts[verdicts[row]] += 1
    return {**counts, "removed": removed, "verdicts": each}
