"""The times of batches, which never go back."""

from wherecast.store.contracts import Batches


def last_time(batches: Batches) -> int:
    """The time of the last batch; 0 where there is no batch."""
    end = batches.progress().sequence
    found = batches.records(max(end - 1, 0), end)
    return found[-1][1].at if found else 0
