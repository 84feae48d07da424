"""The Spark runner: sessions, checks, queries and workers."""
