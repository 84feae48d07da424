"""The socket of a server; its supervisor holds it, so clients can connect at any time."""

import errno
import socket

from wherecast.model import ConfigError
from wherecast.model.errors import reason_of
from wherecast.server.settings_sources import check_host

_BACKLOG = 2048
_SEND_BYTES = 128 << 10


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address of the loopback.

    Raises:
        ConfigError: the port is in use or not allowed.
    """
    check_host(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it: the bytes that wait for a client that reads nothing are bounded.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} of {host} is in use; --port names another") from None
        reason = reason_of(error)
        raise ConfigError(f"cannot listen at {host}, port {port}: {reason.lower()}") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """The address to give to clients."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
