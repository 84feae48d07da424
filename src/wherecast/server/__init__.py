"""The server: HTTP and WebSocket over a broker, its settings, and the watch over its processes."""
