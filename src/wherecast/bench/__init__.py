"""Experiments: measurements of Wherecast, one run each, stored as JSON lines."""

from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.run_experiment import Options, run

__all__ = ["EXPERIMENTS", "Options", "run"]
