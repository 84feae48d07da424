"""Experiments with the broker in process."""
