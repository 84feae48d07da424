"""The socket of a server is on the loopback, and a port in use is told."""

import pytest

from wherecast.model import ConfigError
from wherecast.server.supervisor.listening import address_of, listen


def test_a_port_in_use_is_told() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert address_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(ConfigError, match=f"port {port} of 127.0.0.1 is in use"):
            listen("127.0.0.1", port)


def test_another_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="without authentication"):
        listen("0.0.0.0", 0)
