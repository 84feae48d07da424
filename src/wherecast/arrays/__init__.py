"""Small helpers over numpy and Arrow arrays."""
