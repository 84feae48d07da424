"""A process of some threads that append until it is killed: see `test_log`.

It tells on standard output what returned to it: the first offset and the number of each call.
"""

import itertools
import sys
import threading
from pathlib import Path

from tests.contract.stores import Body, embedded_place, publications


def run(path: Path) -> None:
    """Appends without an end."""
    place = embedded_place(path)
    numbers = itertools.count()

    def append() -> None:
        while True:
            number = next(numbers)
            bodies = [Body(number, f"{number}-{row}", bytes(500)) for row in range(3)]
            receipt = place.log.append(publications(bodies), at=0)
            sys.stdout.write(f"{receipt.offsets[0]} {number}\n")  # one write: lines stay whole
            sys.stdout.flush()

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
