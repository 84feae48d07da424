"""The stage of the live pipeline, a module per step: decode, match, rank, join, group, commit."""
