"""A near miss: a reading that failed a single predicate of a subscription."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from wherecast.cli.demo import air
from wherecast.language import Explanation, Filter
from wherecast.model import Subscription


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A reading that failed a single predicate of a subscription.

    Attributes:
        subscription: the subscription.
        number: number of the reading.
        reading: the attributes of the reading.
        explanation: the verdict of each predicate.
    """

    subscription: Subscription
    number: int
    reading: dict[str, Any]
    explanation: Explanation


def nearest_miss(readings: pa.Table, subscription: Subscription) -> NearMiss:
    """The reading with the most nitrogen dioxide among those that fail a single predicate.

    Raises:
        LookupError: no reading fails a single predicate.
    """
    filter = Filter(subscription.filter, air.schema())
    measured = [row for row in readings.to_pylist() if row["no2"] is not None]
    for row in sorted(measured, key=lambda row: (-row["no2"], row["number"])):
        reading = {name: value for name, value in row.items() if name != "number"}
        explanation = filter.explain(reading)
        failed = [reason for reason in explanation.reasons if reason.verdict is not True]
        if len(failed) == 1 and not explanation.matched:
            return NearMiss(subscription, row["number"], reading, explanation)
    raise LookupError(f"no reading nearly matches {subscription.filter}")
