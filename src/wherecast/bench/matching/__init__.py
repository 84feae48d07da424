"""Experiments with matching in one process, compared with DuckDB and Polars."""
