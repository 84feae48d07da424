"""Compiled kernels, kept on disk from one process to the next, for all kinds of index.

`kernel_decorators` also works without numba, `cached_njit` needs it, `cache_directory` says where
the compiled code lies and when it is stale.
"""
