"""Wherecast: content-based publish/subscribe whose filters are WHERE clauses.

The names below are loaded when they are first used, so that `import wherecast` stays quick and
pulls in neither pyspark nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wherecast.broker.async_broker import AsyncBroker as AsyncBroker
    from wherecast.broker.broker import Broker as Broker
    from wherecast.language import Explanation as Explanation
    from wherecast.language import Filter as Filter
    from wherecast.matching import Index as Index
    from wherecast.matching import Matches as Matches
    from wherecast.matching.trees.betree.branch import Branch as Branch
    from wherecast.matching.trees.betree.parameters import TreeParameters as TreeParameters
    from wherecast.model import AcknowledgementError as AcknowledgementError
    from wherecast.model import Attribute as Attribute
    from wherecast.model import ConfigError as ConfigError
    from wherecast.model import ConflictError as ConflictError
    from wherecast.model import FilterError as FilterError
    from wherecast.model import Limits as Limits
    from wherecast.model import Publication as Publication
    from wherecast.model import PublicationError as PublicationError
    from wherecast.model import Schema as Schema
    from wherecast.model import SchemaError as SchemaError
    from wherecast.model import SnapshotError as SnapshotError
    from wherecast.model import StoreError as StoreError
    from wherecast.model import Subscription as Subscription
    from wherecast.model import WherecastError as WherecastError

    __version__: str

_HOMES = {
    "wherecast.broker.async_broker": ("AsyncBroker",),
    "wherecast.broker.broker": ("Broker",),
    "wherecast.language": ("Explanation", "Filter"),
    "wherecast.matching": ("Index", "Matches"),
    "wherecast.matching.trees.betree.branch": ("Branch",),
    "wherecast.matching.trees.betree.parameters": ("TreeParameters",),
    "wherecast.model": (
        "AcknowledgementError",
        "Attribute",
        "ConfigError",
        "ConflictError",
        "FilterError",
        "Limits",
        "Publication",
        "PublicationError",
        "Schema",
        "SchemaError",
        "SnapshotError",
        "StoreError",
        "Subscription",
        "WherecastError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """The public name, loaded from its package on first use."""
    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]
    if name not in _HOME_OF:
        raise AttributeError(f"module 'wherecast' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
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
