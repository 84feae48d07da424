"""The time from publishing to taking in one thread, in memory and durable."""

from pathlib import Path
from time import perf_counter

from wherecast.bench.broker.broker_load import SUBSCRIBER, BrokerLoad
from wherecast.bench.latencies import latency_columns
from wherecast.bench.measured import WrongResult
from wherecast.bench.process_use import own_use
from wherecast.bench.progress import Row
from wherecast.broker.broker import Broker

SUBSCRIPTIONS = 10_000
SYMBOLS = 2_000
MEMORY = {"on disk": "no", "filter by": "content"}
DURABLE = {"on disk": "synced", "filter by": "content"}
_COUNT = 5_000
_WARM_UP = 500
_WAIT_S = 60.0


def drawn(count: int, seed: int) -> BrokerLoad:
    """The load of the cases in process: 10,000 price alerts, and publications that match."""
    return BrokerLoad.drawn(count, seed, SUBSCRIPTIONS, SYMBOLS)


def measure(what: str, size: int | None, seed: int, data: Path | None) -> Row:
    """Publishes one by one; takes and acknowledges each publication before the next.

    An acknowledgement is part of the processor time, not of the latency.
    """
    load = drawn(min(size or _COUNT, _COUNT) + _WARM_UP, seed)
    millis, matches = [], 0
    with Broker(load.schema, data=data) as broker:
        subscriber = broker.subscriber(SUBSCRIBER)
        subscriber.subscribe_all(load.filters)
        publisher = broker.publisher("p")
        used = own_use()
        for number, attributes in enumerate(load.publications):
            if number == _WARM_UP:
                used = own_use()
            started = perf_counter()
            publisher.publish(attributes)
            found = subscriber.take(1, timeout=_WAIT_S)
            millis.append((perf_counter() - started) * 1e3)
            if not found:
                raise WrongResult(f"{what}: publication {number:,} did not come")
            matches += len(found[0].subscription_ids)
            found[0].ack()
        used = own_use() - used
    load.check(what, matches)
    counted = len(millis) - _WARM_UP
    return {
        "what": what,
        **latency_columns(millis[_WARM_UP:]),
        "matches": int(load.matches[_WARM_UP:].sum()),
        **used.columns(counted),
        **(MEMORY if data is None else DURABLE),
    }
