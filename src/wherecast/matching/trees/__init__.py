"""Indexes whose filters come and go one by one: what the kinds `betree` and `forest` stand on."""
