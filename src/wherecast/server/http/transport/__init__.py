"""Bytes on the wire: bodies within limits, sockets, threads, guards."""
