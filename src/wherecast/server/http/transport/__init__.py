"""Bytes on the wire: bodies within limits, protocols, connections, thread pools, the guard."""
