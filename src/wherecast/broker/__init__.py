"""One process that accepts, keeps and delivers: in an application, or inside a server.

- `broker` and `async_broker`, with `publisher` and `subscriber`: what applications hold.
- `broker_core`: what the publishers and subscribers of one broker share; `core_limits`: its limits.
- `intake`: publications on their way in. `registrar`: streams, subscribers, subscriptions.
- `runner`: the threads. They run a `notification_source`, which matches in this process
  (`inline_source`) or follows what another process commits (`commit_source`), and `tending`.
- `dispatch`: notifications on their way out.
"""
