"""Experiments with the server over HTTP and WebSocket."""
