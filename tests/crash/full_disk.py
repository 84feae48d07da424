"""A store on a disk that fills up and is freed, in a mount namespace: see `test_full_disk`.

Arguments: a folder with `store`, where a small disk is mounted, and `inline`, `split` or `spark`.
"""

import os
import sys
from collections import Counter
from pathlib import Path

from tests.crash.broker_process import BACKLOG_MAX
from tests.crash.campaign import Campaign
from tests.crash.ledger import read_facts
from tests.crash.parts import BROKER, INLINE, INLINE_PIPELINE, PIPELINE, calm
from tests.spark.services import until

_ROUNDS = 3


def fill(ballast: Path) -> None:
    """Writes until nothing more can be written."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                os.write(file.fileno(), bytes(4096))
        except OSError:
            pass


def facts(campaign: Campaign) -> Counter[str]:
    """How many facts there are of each kind, and how many problems by their first words."""
    found: Counter[str] = Counter()
    for kind, *what in read_facts(campaign.ledger):
        found[kind] += 1
        if kind == "problem":
            found[str(what[0]).partition(":")[0]] += 1
    return found


def is_refused(campaign: Campaign, before: Counter[str]) -> bool:
    """Whether publications are refused, or no batch can be committed, so that publishers pause.

    A write-ahead log has room of its own, in which the log may go on while batches cannot.
    """
    refused = facts(campaign)["disk full"] > before["disk full"] + 3
    return refused or campaign.backlog() > BACKLOG_MAX


def run(folder: Path, kind: str) -> None:
    """Fills and frees the disk, has all delivered, and prints the verdict."""
    parts = {
        "inline": (INLINE,),
        "split": (BROKER, INLINE_PIPELINE),
        "spark": (BROKER, PIPELINE),
    }[kind]
    campaign = Campaign(folder, tuple(map(calm, parts)), seed=0)
    ballast = campaign.store / "ballast"
    try:
        for _ in range(_ROUNDS):
            before = facts(campaign)
            until("news", lambda b=before: facts(campaign)["accepted"] > b["accepted"] + 3)
            fill(ballast)
            until("refusal", lambda b=before: is_refused(campaign, b))
            ballast.unlink()
        before = facts(campaign)
        until("news", lambda: facts(campaign)["accepted"] > before["accepted"] + 3)
        verdict = campaign.drain()
    finally:
        campaign.close()
    print(verdict, *verdict.faults, facts(campaign), sep="\n")
    sys.exit(1 if verdict.faults else 0)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2])
