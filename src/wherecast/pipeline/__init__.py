"""The path of a publication: stages over record batches, and the two runners that call them.

- `stages`: the stages of a batch, one frozen type per hop, and the inline runner.
- `filters`: sets of filters, read, checked, stored as blobs, and loaded by workers.
- `spark`: the Spark runner: sessions, queries, workers.
- `live`: the log of a store, batch by batch.
- `files`: publications, filters and matches in .jsonl, .parquet and .csv.
"""
