"""Matching in one process, beside DuckDB, Polars and others."""
