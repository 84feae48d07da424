"""The sink of matches: Parquet files that workers write and that one commit makes visible."""
