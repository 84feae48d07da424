"""A run of random tests can be repeated: in this process, in others, and with Hypothesis."""

import subprocess
import sys

import pytest
from hypothesis import core

from tests.environments import ROOT
from tests.seeds import VARIABLE, jobs, random_of, run_seed


def test_a_run_keeps_its_seed_and_processes_share_it() -> None:
    program = "from tests.seeds import *; print(run_seed(), random_of('a').random())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(run_seed()), str(random_of("a").random())]


def test_another_seed_and_another_job_draw_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {random_of(job).random() for job in ("a", "b")}
    monkeypatch.setenv(VARIABLE, str(run_seed() + 1))
    assert len(drawn | {random_of(job).random() for job in ("a", "b")}) == 4
    monkeypatch.delenv(VARIABLE)
    assert len({random_of("a").random() for _ in range(3)}) == 1  # drawn at the first call
    seeds = {run_seed()}
    monkeypatch.delenv(VARIABLE)
    assert run_seed() not in seeds


def test_hypothesis_draws_from_it(pytestconfig: pytest.Config) -> None:
    assert core.global_force_seed == int(pytestconfig.option.hypothesis_seed)
    assert core.global_force_seed == run_seed() or "--hypothesis-seed" in str(
        pytestconfig.invocation_params.args
    )


def test_a_release_runs_more_jobs_and_a_campaign_all() -> None:
    first, second, third = jobs(3, in_make_test=1, in_release=2)
    assert first == 0
    assert (second.values, [mark.name for mark in second.marks]) == ((1,), ["release"])
    assert (third.values, [mark.name for mark in third.marks]) == ((2,), ["soak"])
