"""The messages of HTTP and WebSocket, each declared once: read, written and described from that.

A message is a JSON object, declared as a `TypedDict`. Type checkers hold those who write one to its
keys; `reading` checks what others sent; `openapi` describes it, with an example. Nothing here knows
the server or its framework, so that clients can share the declarations.

- `declaration`: what makes a message; its JSON schema and its example.
- `errors`: how a request is refused. `reading`: bodies as requests. `openapi`: descriptions.
- a module per resource: `publications`, `streams`, `subscribers`, `subscriptions`,
  `notifications`, `acknowledgements`, `push`, `explanations`, `dead_letters`, `operation`.
"""
