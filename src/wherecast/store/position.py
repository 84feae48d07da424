"""Positions: how far a log was read, told per partition."""

import json
from collections.abc import Iterator, Mapping


class Position(Mapping[int, int]):
    """The next offset of each partition; a partition that is not named stands at 0.

    Immutable. Two positions are equal where every partition stands at the same offset.
    """

    __slots__ = ("_offsets",)

    def __init__(self, offsets: Mapping[int, int] | None = None) -> None:
        given = {} if offsets is None else offsets
        self._offsets = {part: given[part] for part in sorted(given) if given[part]}

    def __getitem__(self, partition: int) -> int:
        return self._offsets.get(partition, 0)

    def __iter__(self) -> Iterator[int]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._offsets == other._offsets

    def __hash__(self) -> int:
        return hash(tuple(self._offsets.items()))

    def __repr__(self) -> str:
        return f"Position({self._offsets})"

    def reaches(self, other: "Position") -> bool:
        """Whether no partition stands before where it stands in the other one."""
        return all(self[partition] >= offset for partition, offset in other.items())

    def to_dict(self) -> dict[str, int]:
        """The position as JSON carries it."""
        return {str(partition): offset for partition, offset in self._offsets.items()}

    def to_json(self) -> str:
        """The position as text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Position":
        """The position of what `to_json` wrote."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, given: Mapping[str, int]) -> "Position":
        """The position of what `to_dict` wrote."""
        return cls({int(partition): offset for partition, offset in given.items()})
