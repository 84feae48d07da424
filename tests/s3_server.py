"""An S3 server for tests, as a program: prints its port, then serves until it is ended.

It takes one request at a time, so that a conditional write is one step, as it is on S3. Buckets
with these names behave as some stores do:

- `careless` ignores conditions
- `terse` refuses a write that is there already without saying which condition failed
- `busy` refuses every other conditional write because of a conflict
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

ERROR = "<Error><Code>{}</Code><Message>{}</Message></Error>"
BUSY = ERROR.format("ConditionalRequestConflict", "a conflicting operation is under way")
TERSE = ERROR.format("PreconditionFailed", "a condition failed")
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Buckets:
    """The server, with the behaviour that a bucket is named for."""

    def __init__(self, server: Application) -> None:
        self.server = server
        self.turns = itertools.count()

    def __call__(self, request: dict[str, Any], answer: Callable[..., Any]) -> Iterable[bytes]:
        bucket = request["PATH_INFO"].split("/")[1]
        if "HTTP_IF_NONE_MATCH" not in request:
            return self.server(request, answer)
        if bucket == "careless":
            del request["HTTP_IF_NONE_MATCH"]
        if bucket == "busy" and next(self.turns) % 2 == 0:
            request["wsgi.input"].read(int(request["CONTENT_LENGTH"]))  # or the client is cut off
            answer("409 Conflict", [("Content-Type", "application/xml")])
            return [BUSY.encode()]
        if bucket == "terse":
            return self._tersely(request, answer)
        return self.server(request, answer)

    def _tersely(self, request: dict[str, Any], answer: Callable[..., Any]) -> Iterable[bytes]:
        given: list[Any] = []
        content = list(self.server(request, lambda *args: given.append(args)))
        status, headers, *_ = given[0]
        if status.startswith("412"):
            headers, content = [("Content-Type", "application/xml")], [TERSE.encode()]
        answer(status, headers)
        return content


class Quiet(WSGIRequestHandler):
    """Writes no line per request."""

    def log_request(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    application = Buckets(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, request_handler=Quiet)
    print(server.port, flush=True)
    server.serve_forever()
