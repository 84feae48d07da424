"""Changes of the registry: batches, projection, compaction."""
