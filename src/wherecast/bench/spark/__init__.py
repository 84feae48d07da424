"""Experiments with matching on Spark."""
