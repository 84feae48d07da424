"""Errors of the libraries that reach remote stores, as one line each."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from wherecast.model.errors import ConfigError, WherecastError

_LOCAL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no remote store reports these


@contextmanager
def told(action: str, uri: str) -> Iterator[None]:
    """Whatever a library raises, as a ConfigError that names the place.

    What is missing (FileNotFoundError) and errors of the local disk stay as they are.
    """
    try:
        yield
    except (FileNotFoundError, WherecastError):
        raise
    except Exception as error:
        # Each library has a tree of its own, and errors of the network from below it.
        if isinstance(error, OSError) and error.errno in _LOCAL:
            raise
        raise ConfigError(f"cannot {action} {uri}: {reason(error)}") from error


def reason(error: Exception) -> str:
    """The first line of an error's text, or its type where it has none."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__
