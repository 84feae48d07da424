"""A running server, as the client commands see it."""

import http.client
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import orjson

from wherecast.model import ConfigError, WherecastError

URL = "http://127.0.0.1:8080"
_VARIABLE = "WHERECAST_URL"
_TIMEOUT_S = 90.0


class Unreachable(WherecastError):
    """No server answers at the URL."""

    exit_code = 1  # a failure, not a usage error


class RefusedByServer(WherecastError):
    """The server refused a request.

    Attributes:
        status: the HTTP status of the answer.
        code: the stable code of the error.
        problems: what is wrong with a filter, if the error is about one: each with a message and
            the place in the text, where one is known.
    """

    def __init__(
        self, status: int, code: str, message: str, problems: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.status = status
        self.code = code
        self.problems = problems
        super().__init__(message)


class Remote:
    """A connection to a server, which reconnects when it was cut.

    Args:
        url: the URL of the server; None is WHERECAST_URL or else the default URL.

    Raises:
        ConfigError: the URL is invalid.
    """

    def __init__(self, url: str | None) -> None:
        self.url = (url or os.environ.get(_VARIABLE) or URL).rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme != "http" or not parts.hostname:
            raise ConfigError(f"{self.url} is not a URL such as {URL}")
        try:
            port = parts.port or 80
        except ValueError:
            raise ConfigError(f"{self.url} has an invalid port") from None
        self._connection = http.client.HTTPConnection(parts.hostname, port, timeout=_TIMEOUT_S)

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """The status and the JSON document of an answer.

        An answer with verdicts on publications is returned also with status 409 or 422.

        Raises:
            Unreachable: no server answers.
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
            self._connection.close()  # a late answer must not become that of the next call
            raise
        try:
            document: Any = orjson.loads(content) if content else {}
        except orjson.JSONDecodeError:
            raise Unreachable(f"{self.url} is not a Wherecast server") from None
        if answer.status >= 400 and "accepted" not in document:
            found = document["error"]
            problems = [found, *found.get("others", ())] if "position" in found else []
            raise RefusedByServer(answer.status, found["code"], found["message"], problems)
        return answer.status, document

    def pages(self, path: str, key: str) -> Iterator[Any]:
        """The items of all pages of a list."""
        after = ""
        while True:
            _, document = self.call("GET", f"{path}?after={quote(after, safe='')}")
            yield from document[key]
            if document["after"] is None:
                return
            after = document["after"]

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


def path_of(*parts: str) -> str:
    """The URL path of names, quoted."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)
