"""The live pipeline: log entries in, segments out, on Spark or in process."""
