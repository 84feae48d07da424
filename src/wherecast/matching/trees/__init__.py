"""Indexes that change filter by filter: the kinds `betree` and `forest`, and their common parts."""
