"""`wherecast demo`."""
