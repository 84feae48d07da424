"""Wherecast: content-based publish/subscribe whose filters are WHERE clauses.

`__init__.pyi` lists the public names. Each is loaded when it is first used, so that
`import wherecast` stays quick and pulls in neither pyspark nor numba.
"""

import re
from importlib import import_module
from pkgutil import get_data
from typing import Any

_LIST = (get_data(__name__, "__init__.pyi") or b"").decode()
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", _LIST, re.M)}

__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """The public name, loaded from its package on first use."""
    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]
    if name not in _HOMES:
        raise AttributeError(f"module 'wherecast' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes a while

    try:
        return version("wherecast")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return __all__
