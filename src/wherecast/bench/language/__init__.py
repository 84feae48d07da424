"""Experiments with reading filters."""
