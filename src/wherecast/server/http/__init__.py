"""The server's face: HTTP and WebSocket over the core of a broker. It moves bytes; others decide.

- `app`: puts everything together. `context`: what the routes share.
- `routes/`: a module per resource, and `publish_shortcut` for the busiest path.
- `messages/`: the JSON objects that clients send and get, each declared once.
- `batching/`: calls that cost little more together than one by one.
- `transport/`: bytes on the wire, within limits; threads that wait for the disk; who may call.
- `notification_writer`: notifications as JSON, each publication encoded once.
- `counters`, `metric_catalog`, `stage_timings`, `pipeline_state`: what operators see.
"""
