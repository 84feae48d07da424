"""The load of the broker experiments: price alerts, and their matches according to an index."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.bench.measured import WrongResult
from wherecast.matching import Index
from wherecast.model import Schema
from wherecast.workloads import alerts

SUBSCRIPTIONS = 1_000
SUBSCRIBER = "ana"
SYMBOLS = 100  # so that most publications match something


@dataclass(frozen=True, slots=True, eq=False)
class BrokerLoad:
    """Subscriptions of one subscriber, and publications.

    Attributes:
        schema: the schema of the publications.
        filters: the filters by the ids of their subscriptions.
        publications: the attributes of each publication.
        matches: number of subscriptions that each publication matches; int64, shape (n,).
    """

    schema: Schema
    filters: dict[str, str]
    publications: list[dict[str, Any]]
    matches: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def drawn(
        cls, count: int, seed: int, subscriptions: int = SUBSCRIPTIONS, symbols: int = SYMBOLS
    ) -> "BrokerLoad":
        """A load of `count` publications, each of which matches at least one subscription.

        Args:
            count: number of publications.
            seed: the seed of the workload.
            subscriptions: number of subscriptions.
            symbols: number of symbols of the workload; with fewer, more subscriptions match.
        """
        workload = alerts(seed=seed, symbols=symbols)
        table = pa.Table.from_batches(workload.filters(subscriptions))
        texts = table.column("filter").to_pylist()
        filters = {f"s{number}": text for number, text in enumerate(texts)}
        index = Index(workload.schema)
        index.add_all(filters.items())
        rows: list[dict[str, Any]] = []
        counts: list[int] = []
        for batch in workload.publications(100 * count):
            found = index.match(batch).counts
            kept = np.flatnonzero(found)[: count - len(rows)]
            rows += batch.take(pa.array(kept)).to_pylist()
            counts += found[kept].tolist()
            if len(rows) == count:
                break
        return cls(workload.schema, filters, rows, np.array(counts, np.int64))

    def check(self, what: str, matches: int) -> int:
        """The number of delivered matches, if it is right.

        Raises:
            WrongResult: the number is wrong.
        """
        wanted = int(self.matches.sum())
        if matches != wanted:
            raise WrongResult(f"{what}: {matches:,} matches were delivered instead of {wanted:,}")
        return matches
