"""A running server, as the client commands see it."""

import http.client
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from wherecast.model import ConfigError, WherecastError

URL = "http://127.0.0.1:8080"
_VARIABLE = "WHERECAST_URL"
_TIMEOUT_S = 90.0


class Unreachable(WherecastError):
    """No server answers there."""

    exit_code = 1  # a failure, and no wrong input


class RefusedByServer(WherecastError):
    """The server refused a request.

    Attributes:
        status: of its answer.
        code: a stable word.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status = status
        self.code = code
        super().__init__(message)


class Remote:
    """A connection to a server, made anew where it was cut.

    Args:
        url: of the server; None is that of the environment, or the usual one.

    Raises:
        ConfigError: the address is none.
    """

    def __init__(self, url: str | None) -> None:
        self.url = (url or os.environ.get(_VARIABLE) or URL).rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme != "http" or not parts.hostname:
            raise ConfigError(f"{self.url} is no address such as {URL}")
        try:
            port = parts.port or 80
        except ValueError:
            raise ConfigError(f"{self.url} has a port that is none") from None
        self._connection = http.client.HTTPConnection(parts.hostname, port, timeout=_TIMEOUT_S)

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """The status and the document of an answer below 400, and of a publisher's 409 and 422.

        Raises:
            Unreachable: nobody answers.
            RefusedByServer: the answer is an error.
        """
        given = body if isinstance(body, bytes | None) else orjson.dumps(body)
        headers = {} if given is None else {"Content-Type": kind}
        try:
            self._connection.request(method, path, given, headers)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise Unreachable(f"no server answers at {self.url}: {reason.lower()}") from None
        except KeyboardInterrupt:
            self._connection.close()  # what comes over it now is no answer to the next call
            raise
        try:
            document: Any = orjson.loads(content) if content else {}
        except orjson.JSONDecodeError:
            raise Unreachable(f"what answers at {self.url} is no Wherecast server") from None
        if answer.status >= 400 and "accepted" not in document:
            found = document["error"]
            raise RefusedByServer(answer.status, found["code"], found["message"])
        return answer.status, document

    def pages(self, path: str, key: str) -> Iterator[Any]:
        """Everything of a list that comes in pages."""
        after = ""
        while True:
            _, document = self.call("GET", f"{path}?after={quote(after, safe='')}")
            yield from document[key]
            if document["after"] is None:
                return
            after = document["after"]

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def path_of(*parts: str) -> str:
    """The path of some names."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
