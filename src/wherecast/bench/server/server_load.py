"""The load of the server experiments: price alerts, and publications that match one each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from wherecast.matching import Index
from wherecast.workloads import alerts

SCHEMA = '[attributes]\nsymbol = "string"\nprice = "float"\nvolume = "float"\n'
SUBSCRIPTIONS = 10_000
SUBSCRIBERS = ("ana", "boris")
_SYMBOLS = 2_000
_DRAWN = 100_000  # different publications, which are repeated


@dataclass(frozen=True, slots=True, eq=False)
class ServerLoad:
    """Subscriptions, and publications that each match exactly one of them.

    Attributes:
        filters: the subscriptions of each subscriber, as NDJSON for the server.
        attributes: the attributes of each publication, as JSON.
    """

    filters: dict[str, bytes]
    attributes: list[bytes]

    @classmethod
    def drawn(cls, count: int, seed: int) -> "ServerLoad":
        """A load with at most `count` different publications."""
        workload = alerts(seed=seed, symbols=_SYMBOLS)
        texts = pa.Table.from_batches(workload.filters(SUBSCRIPTIONS)).column("filter").to_pylist()
        index = Index(workload.schema)
        index.add_all([(f"s{number}", text) for number, text in enumerate(texts)])
        rows: list[dict[str, Any]] = []
        wanted = min(count, _DRAWN)
        for batch in workload.publications(100 * wanted):
            once = np.flatnonzero(index.match(batch).counts == 1)[: wanted - len(rows)]
            rows += batch.take(pa.array(once)).to_pylist()
            if len(rows) == wanted:
                break
        lines: dict[str, list[bytes]] = {name: [] for name in SUBSCRIBERS}
        for number, text in enumerate(texts):
            line = orjson.dumps({"id": f"s{number}", "filter": text})
            lines[SUBSCRIBERS[number % len(SUBSCRIBERS)]].append(line)
        filters = {name: b"\n".join(own) for name, own in lines.items()}
        return cls(filters, [orjson.dumps(row) for row in rows])

    def body(self, first: int, count: int, is_named: bool = False) -> bytes:
        """`count` publications as NDJSON; with `is_named` their numbers are their ids."""
        own = self.attributes
        return b"\n".join(
            b'{"attributes":'
            + own[number % len(own)]
            + (b',"id":"%d"}' % number if is_named else b"}")
            for number in range(first, first + count)
        )
