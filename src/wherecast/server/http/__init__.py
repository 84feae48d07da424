"""The server's face: HTTP and WebSocket over a core. It moves bytes; others decide.

- `app`: puts everything together.
- a module per resource: `streams`, `publications`, `subscribers`, `subscriptions`,
  `notifications`, `push`, `explain`, `dead_letters`, `health`, `metrics`.
- `body` and `documents`: what comes in, within limits. `answers` and `objects`: what goes out.
- `threads`: where calls that wait for the disk are made. `guard`: who may call.
- `shapes`: what the OpenAPI description says.
"""
