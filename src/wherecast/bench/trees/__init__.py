"""Experiments with the trees: betree and forest."""
