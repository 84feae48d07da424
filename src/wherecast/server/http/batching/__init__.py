"""Batching: small calls that arrive together share one write."""
