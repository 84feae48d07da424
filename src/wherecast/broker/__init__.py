"""One process that accepts, keeps and delivers: in an application, or inside a server.

- `broker` and `async_broker`, with `publisher` and `subscriber`: what applications hold.
- `broker_core`: what the publishers and subscribers of one broker share.
- `intake`: publications on their way in. `registrar`: streams, subscribers, subscriptions.
- `dispatch`: notifications on their way out.
"""
