"""One seed for all random tests of a run.

Each run draws a seed, prints it in its header, and again where a test fails. `WHERECAST_TEST_SEED`
gives the seed of an earlier run, which then repeats: in all processes of pytest, with Hypothesis
and without it. `.ci/run` takes the seed from the commit: each commit tries other examples.
"""

import os
import secrets
from random import Random
from typing import Any

import pytest

VARIABLE = "WHERECAST_TEST_SEED"


def run_seed() -> int:
    """The seed of this run, drawn at the first call; processes started later share it."""
    return int(os.environ.setdefault(VARIABLE, str(secrets.randbelow(2**32))))


def random_of(job: object) -> Random:
    """The random numbers of one job in this run."""
    return Random(f"{run_seed()} {job}")


def jobs(count: int, in_make_test: int, in_release: int) -> list[Any]:
    """The numbers of random jobs as parameters: a few for every run, some for a release.

    The others are the campaign `random-jobs` of `make soak`.
    """
    release, soak = pytest.mark.release, pytest.mark.soak("random-jobs")
    return [
        *range(in_make_test),
        *(pytest.param(job, marks=release) for job in range(in_make_test, in_release)),
        *(pytest.param(job, marks=soak) for job in range(in_release, count)),
    ]
