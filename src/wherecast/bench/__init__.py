"""Experiments: what Wherecast costs, measured in one run and kept as JSON lines."""

from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.run_experiment import Options, run

__all__ = ["EXPERIMENTS", "Options", "run"]
