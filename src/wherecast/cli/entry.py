"""Runs a command and turns errors into one or two lines and an exit code."""

import os
import sys
import traceback
from collections.abc import Sequence

from wherecast.model import WherecastError
from wherecast.pipeline.filters.process_blobs import remove_own
from wherecast.pipeline.spark.session import SparkFailed

SUCCESS, FAILURE, USAGE = 0, 1, 2
INTERRUPTED = 130  # the exit code of shells and Typer after Ctrl-C


def main() -> None:
    """Runs the command of the command line, and exits with its code."""
    try:
        code = run(sys.argv[1:])
    finally:
        remove_own()  # no other process uses the filters of a command
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Runs a command.

    Returns:
        0 for success, 1 for a failure, 2 for a usage or input error, 130 after Ctrl-C.
    """
    from wherecast.cli.commands import app

    debug = "--debug" in arguments
    given = [argument for argument in arguments if argument != "--debug"]
    try:
        code = app(args=given, prog_name="wherecast", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            return _report("interrupted", INTERRUPTED)
        return code if isinstance(code, int) else SUCCESS
    except KeyboardInterrupt:
        return _report("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader has closed our standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SUCCESS
    except Exception as error:  # noqa: BLE001  # the edge of the process
        if debug:
            traceback.print_exc()
        if type(error).__name__ == "Abort":
            return _report("interrupted", INTERRUPTED)
        if hasattr(error, "format_message"):
            message = _usage(error)
            return _report(message, USAGE) if message else USAGE
        if isinstance(error, WherecastError):
            return _report(str(error), getattr(error, "exit_code", USAGE))
        first = next(iter(str(error).strip().splitlines()), "no details")[:300]
        kind = "Spark failed" if isinstance(error, SparkFailed) else type(error).__name__
        more = "" if debug else "\n(--debug shows where it happened)"
        return _report(f"{kind}: {first}{more}", FAILURE)


def _report(message: str, code: int) -> int:
    print(f"wherecast: {message}", file=sys.stderr)
    return code


def _usage(error: Exception) -> str:
    """The message about wrong arguments, with a hint to the help."""
    context = getattr(error, "ctx", None)
    command = "wherecast" if context is None else context.command_path
    message = " ".join(str(error.format_message()).split())  # type: ignore[attr-defined]
    if not message:  # without arguments Typer has shown the help
        return ""
    return f"{message}\nTry '{command} --help'."
