"""The messages of HTTP and WebSocket: parsed, written, described."""
