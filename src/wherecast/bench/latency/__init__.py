"""Experiments with single publications: the time until their matches are there, and its cost."""
