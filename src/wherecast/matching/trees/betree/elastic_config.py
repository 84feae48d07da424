"""The `.config` file of an elastic BE-Tree's broker, which names its two other files.

Source: elastic BE-Tree, section 6.3.1 and appendix A, which describe the keys without naming them.
"""

from dataclasses import dataclass
from pathlib import Path

from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.model import Schema
from wherecast.model.properties import PropertyFile

_KEYS = ("name", "tcp.port", "window", "split.ns", "merge.ns", "betree", "attributes")
_PORT_MAX = 65_535


@dataclass(frozen=True, slots=True)
class ElasticConfig:
    """A `.config` file with the two files that it names.

    Attributes:
        schema: of the `.attributes` file.
        parameters: of the `.betree` file.
        name, tcp_port: of the broker; None where the file does not say.
        window: how many processing times a matcher looks back on; None where the file does not say.
        split_ns: a matcher splits when all times of the window are above; None likewise.
        merge_ns: a matcher merges when all times of the window are below; None likewise.
    """

    schema: Schema
    parameters: TreeParameters
    name: str | None
    tcp_port: int | None
    window: int | None
    split_ns: int | None
    merge_ns: int | None

    @staticmethod
    def load(path: str | Path) -> "ElasticConfig":
        """The parameters in a `.config` file and in the files that it names.

        The paths of these files are relative to the folder of the `.config` file.

        Raises:
            ConfigError: the file or its `.betree` file cannot be read or is wrong; the error names
                file, line and key.
            SchemaError: its `.attributes` file cannot be read or is wrong.
        """
        file = PropertyFile.load(path, _KEYS)
        betree, attributes = (file.path.parent / file.text(key) for key in ("betree", "attributes"))
        split_ns = _given(file, "split.ns", 1)
        return ElasticConfig(
            schema=Schema.load(attributes),
            parameters=TreeParameters.load(betree),
            name=file.text("name") if "name" in file.properties else None,
            tcp_port=_given(file, "tcp.port", 1, _PORT_MAX),
            window=_given(file, "window", 1),
            split_ns=split_ns,
            merge_ns=_given(file, "merge.ns", 0, split_ns),
        )


def _given(file: PropertyFile, key: str, least: int, most: int | None = None) -> int | None:
    """The value of a key, or None where the file does not have it."""
    return file.whole_number(key, 0, least, most) if key in file.properties else None
