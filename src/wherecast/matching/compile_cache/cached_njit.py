"""numba's `njit`, which keeps compiled code in the directory of `cache_directory`.

Contract. With `cache=True` compiled code is stored where it can be, and compiled by each process
where it cannot: a directory that cannot be written, a full disk and a damaged file cost time, never
an error. Any number of processes may share the directory. numba's settings for other code stay as
they are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.runtime import rtsys

from wherecast.matching.compile_cache.cache_directory import cache_directory

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

DIRECTORY = cache_directory()


class _Locator(_CacheLocator):
    """Where numba finds the compiled code of a function."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._py_file = file  # numba wants it for its warnings

    def get_cache_path(self) -> str:
        return str(DIRECTORY)

    def get_source_stamp(self) -> str:
        return DIRECTORY.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator":
        return cls(function, file)


class _Results(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _CompiledFile(FunctionCache):
    """The compiled code of one function on disk."""

    _impl_class = _Results

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code of a signature, or None.

        numba's own method first imports everything that numba can compile, which takes longer than
        the rest; numba does that again before it compiles.
        """
        try:
            rtsys.initialize(context)
            return self._load_overload(signature, context)
        except Exception:  # noqa: BLE001  # a damaged pickle may raise anything
            with suppress(OSError), _alone():
                self.flush()  # so that newly compiled code can be stored
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Stores the compiled code of a signature, unless the directory cannot be written."""
        with suppress(OSError), _alone():
            super().save_overload(signature, result)


@contextmanager
def _alone() -> Iterator[None]:
    """Waits until no other process writes.

    Without the lock two processes may give one name to the code of two signatures.
    """
    with (Path(DIRECTORY) / "lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def njit(cache: bool = False, **options: Any) -> Callable[..., Any]:
    """The decorator that compiles a function, as numba's `njit` does."""

    def decorate(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(**options)(function)
        if cache and DIRECTORY is not None:
            compiled._cache = _CompiledFile(function)
        return compiled

    return decorate
