"""Keeps the processes of a server running: the gateway and, on Spark, the pipeline.

- `supervisor`: starts, watches, starts again, stops.
- `child`: one process, which ends with its supervisor however that one ends.
- `backoff`: how long to wait before the next start.
- `scratch`: temporary files of the pipeline, removed where it was killed.
- `listening`: the socket, which outlives the gateway.
- `spark_master`: which Spark masters a server accepts.
"""
