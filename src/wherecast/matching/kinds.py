"""The kinds of index: which engine serves a kind, and which kinds have which capability."""

from pathlib import Path
from typing import Literal

from wherecast.matching.columnar.index import ColumnarIndex
from wherecast.matching.engine import Branching, Covering, Drawable, Engine, Savable
from wherecast.matching.scan import ScanIndex
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.tree_file import kind_of
from wherecast.model import ConfigError, Schema, SnapshotError
from wherecast.model.names import did_you_mean

Kind = Literal["columnar", "betree", "forest", "scan"]
KINDS: tuple[Kind, ...] = ("columnar", "betree", "forest", "scan")
CAPABLE_KINDS: dict[type, tuple[Kind, ...]] = {
    Branching: ("betree",),
    Covering: ("forest",),
    Drawable: ("betree", "forest"),
    Savable: ("columnar", "betree", "forest"),
}
_LACKS: dict[type, tuple[str, str]] = {  # of a kind without the capability, and of the others
    Branching: ("cannot list, cut or graft branches", "can"),
    Covering: ("cannot tell which filters cover which", "can"),
    Drawable: ("has no picture", "do"),
    Savable: ("cannot be saved", "can"),
}


def make_engine(kind: str, schema: Schema, parameters: TreeParameters | None = None) -> Engine:
    """An empty engine of a kind.

    Raises:
        ConfigError: the kind is unknown, or takes no parameters.
    """
    need_kind(kind)
    if parameters is not None and kind != "betree":
        raise ConfigError(f"an index of kind {kind} takes no tree parameters; betree does")
    if kind == "columnar":
        return ColumnarIndex(schema)
    if kind == "betree":
        from wherecast.matching.trees.betree.index import BETreeIndex

        return BETreeIndex(schema, parameters)
    if kind == "forest":
        from wherecast.matching.trees.forest.index import ForestIndex

        return ForestIndex(schema)
    return ScanIndex(schema)


def need_kind(kind: str) -> None:
    """Raises ConfigError, which names the nearest kind, unless a kind of index is known."""
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS) or f"there are {', '.join(KINDS)}"
        raise ConfigError(f"unknown kind of index {kind}; {hint}")


def load_engine(path: Path) -> tuple[str, Engine, Schema, type]:
    """The kind, the engine, the schema and the type of the ids of the index in a file.

    Raises:
        SnapshotError: the file is missing, damaged, or of a newer format.
    """
    kind = kind_of(path)
    if kind == "betree":
        from wherecast.matching.trees.betree.index import BETreeIndex

        tree, id_type = BETreeIndex.load(path)
        return kind, tree, tree.schema, id_type
    if kind == "forest":
        from wherecast.matching.trees.forest.index import ForestIndex

        forest, id_type = ForestIndex.load(path)
        return kind, forest, forest.schema, id_type
    if kind != "columnar":
        raise SnapshotError(f"{path}: has an index of kind {kind}, which this version cannot read")
    engine, schema, id_type = ColumnarIndex.load(path)
    return kind, engine, schema, id_type


def missing_capability(kind: str, protocol: type) -> ConfigError:
    """The error for a kind of index without a capability; it names the kinds that have it."""
    *most, last = CAPABLE_KINDS[protocol]
    others = f"{', '.join(most)} and {last}" if most else last
    lack, verb = _LACKS[protocol]
    return ConfigError(f"an index of kind {kind} {lack}; {others} {verb}")
