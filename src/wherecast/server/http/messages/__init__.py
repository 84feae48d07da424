"""The messages of HTTP and WebSocket, each declared once: read, written and described from that.

A message is a JSON object, declared as a `TypedDict`. Type checkers hold those who write one to its
keys; `reading` checks what others sent; `openapi` describes it, with an example. Nothing here knows
the server or its framework, so that clients can share the declarations.

- `declaration`: what makes a message; its JSON schema and its example.
- `reading`: bodies as requests. `openapi`: descriptions. `error_messages`: refusals.
- a module per resource: `publication_messages`, `stream_messages`, `subscriber_messages`,
  `subscription_messages`, `notification_messages`, `acknowledgement_messages`,
  `explanation_messages`, `dead_letter_messages`, `operation_messages`, `push_options`.
"""
