"""Matching on Spark."""
