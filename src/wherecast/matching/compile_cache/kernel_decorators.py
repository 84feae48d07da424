"""The decorators of kernels. Without numba the same functions run, not compiled."""

from collections.abc import Callable
from typing import Any

try:
    from wherecast.matching.compile_cache.cached_njit import njit
except ImportError:  # no numba

    def njit(cache: bool = False, **options: Any) -> Callable[..., Any]:
        """A decorator that returns the function unchanged."""
        return lambda function: function


# for kernels that only other kernels call: numba makes no wrapper to call them from Python
inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)

__all__ = ["inner", "njit"]
