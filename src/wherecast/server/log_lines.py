"""Lines of logs: one per record, for people or for machines."""

import json
import logging
import sys
from datetime import UTC, datetime


class TextFormatter(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        at, level = moment_text(record.created), record.levelname.lower()
        line = f"{at} {level} {record.name}: {_message(record)}"
        return (
            line if record.exc_info is None else f"{line}\n{self.formatException(record.exc_info)}"
        )


class JsonFormatter(logging.Formatter):
    """A line for machines."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        found = {
            "at": moment_text(record.created),
            "level": record.levelname.lower(),
            "name": record.name,
            "message": _message(record),
        }
        if record.exc_info is not None:
            found["trace"] = self.formatException(record.exc_info)
        return json.dumps(found, ensure_ascii=False)


def configure_logs(kind: str) -> None:
    """Writes the logs of this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if kind == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # it logs every connection
    logging.getLogger("uvicorn.error").addFilter(_is_no_denial)


def _is_no_denial(record: logging.LogRecord) -> bool:
    """Whether a record is about anything but a refused WebSocket, which is no error."""
    return "without completing handshake" not in str(record.msg)


def moment_text(seconds: float) -> str:
    """A time, in seconds since 1970, as lines of logs have it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    return " ".join(record.getMessage().splitlines())
