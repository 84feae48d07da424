"""The stages of a batch: plain functions over record batches, and the inline runner."""
