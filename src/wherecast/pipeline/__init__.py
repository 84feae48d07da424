"""The path of a publication: stages over record batches, and the two runners that call them.

- `stages`: validate, match, notify, one frozen type per hop.
- `filters`: a table of filters, read, checked and sorted, that travels to the workers.
- `join`: publications with the filters they match, as rows or arrays.
- `tasks`: the stages put one after the other, for one record batch.
- `inline` and `spark_runner`: the runners; `session`: the Spark session that Wherecast makes.
- `files`: publications, filters and matches in .jsonl, .parquet and .csv.
"""
