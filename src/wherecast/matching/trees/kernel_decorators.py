"""The decorators of kernels, which also run without numba: the same functions, not compiled."""

from collections.abc import Callable
from typing import Any

try:
    from wherecast.matching.columnar.kernels.compile_cache import njit
except ImportError:  # no numba

    def njit(cache: bool = False, **options: Any) -> Callable[..., Any]:
        """The function as it is."""
        return lambda function: function


# for kernels that only kernels call: nothing is made to call them from Python
inner = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)

__all__ = ["inner", "njit"]
