"""Makes a directory of layout 1, and what its queues hold.

It runs with the last commit that writes layout 1, and stands here to tell what is in the directory:

    python make.py FOLDER

writes FOLDER/store.tar.gz, the directory as a killed process leaves it, and FOLDER/expected.json.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import wherecast as wc
from wherecast.store.changes import compaction

SCHEMA = {"no2": "float", "city": "string"}
CITIES = ("Zagreb", "Split", "Osijek")


def fill(path: Path) -> None:
    """Subscribes, publishes, acknowledges some, and ends without closing anything."""
    compaction.CHANGES_MIN = 4
    broker = wc.Broker(wc.Schema.from_dict(SCHEMA), data=path)
    broker.define("open", wc.Schema((), open=True))
    for number in range(6):
        subscriber = broker.subscriber(f"s{number}")
        subscriber.subscribe(f"no2 >= {number}", id="level")
        subscriber.subscribe(f"city = '{CITIES[number % 3]}'", id="city")
        subscriber.subscribe("n > 1", id="any", stream="open")
    broker.subscriber("gone").subscribe("no2 > 0")
    publisher = broker.publisher("station-7")
    trim(broker)
    for round_ in range(3):
        given = [
            wc.Publication(
                {"no2": float(number % 7), "city": CITIES[number % 3]},
                id=f"r{round_}-{number}" if number % 2 else None,
                payload=bytes([round_, number]) if number % 4 == 0 else None,
            )
            for number in range(8)
        ]
        publisher.publish_all(given)
        broker.publisher("p").publish({"n": round_ + 1}, stream="open", id=f"open-{round_}")
        broker.subscriber("s1").subscribe(f"no2 > {round_}", id="changing")
    broker.subscriber("s2").unsubscribe("city")
    broker.forget("gone")
    publisher.publish({"no2": 3.0, "city": "Split"}, id="last")
    for number in range(5):
        subscriber = broker.subscriber(f"s{number}")
        taken = subscriber.take(4 + number, timeout=20.0)
        if number % 2:
            subscriber.ack_through(taken[number])
        else:
            for place in (0, 1, 3):
                taken[place].ack()
    os.kill(os.getpid(), signal.SIGKILL)


def trim(broker: wc.Broker) -> None:
    """Has the log trimmed, and its changes compacted."""
    everybody = [broker.subscriber(name) for name in ("s0", "s1", "s2", "s3", "s4", "s5", "gone")]
    for number in range(70):
        everybody[number % 7].subscribe(f"no2 < -{number}", id="old")
    for subscriber in everybody:
        subscriber.unsubscribe("old")
    broker.publisher("early").publish_all(
        [wc.Publication({"no2": 6.0, "city": "Split"}, id=f"early-{number}") for number in range(5)]
    )
    for subscriber in everybody:
        left = 5
        while left:
            taken = subscriber.take(left, timeout=20.0)
            subscriber.ack_through(taken[-1])
            left -= len(taken)
    for _ in range(2):
        broker._core._runner._tending.enforce_limits()
    assert broker._core.store.log.starts()[0] == 5
    first = next(iter(broker._core.store.log.changes(0, 1)))
    assert first.compacted_to is not None


def drained(path: Path) -> dict[str, list[dict[str, object]]]:
    """What each subscriber has still to receive."""
    found: dict[str, list[dict[str, object]]] = {}
    with wc.Broker(data=path) as broker:
        for number in range(6):
            subscriber = broker.subscriber(f"s{number}")
            own = found[f"s{number}"] = []
            while taken := subscriber.take(1000, timeout=2.0):
                for one in taken:
                    payload = one.publication.payload
                    own.append(
                        {
                            "id": one.publication.id,
                            "attributes": dict(one.publication.attributes),
                            "payload": payload and base64.b64encode(payload).decode(),
                            "published_at": str(one.publication.published_at),
                            "subscription_ids": list(one.subscription_ids),
                        }
                    )
                subscriber.ack_through(taken[-1])
    return found


def main(folder: Path) -> None:
    """Makes both files."""
    store = folder / "store"
    code = subprocess.run([sys.executable, __file__, "--fill", str(store)], check=False).returncode
    assert code == -signal.SIGKILL, code
    with tarfile.open(folder / "store.tar.gz", "w:gz") as archive:
        for name in sorted(store.rglob("*")):
            if name.name != "lock" and not name.name.endswith("-shm") and "wake" not in name.parts:
                archive.add(name, name.relative_to(folder), recursive=False)
    (folder / "expected.json").write_text(json.dumps(drained(store), indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--fill":
        fill(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
