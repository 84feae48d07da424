"""Attributes and schemas: what a publication may carry and a filter may name."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from wherecast.model.arrays import canonical_array
from wherecast.model.decimals import decimal_of
from wherecast.model.errors import Problem, PublicationError
from wherecast.model.limits import DEFAULT_LIMITS, Limits
from wherecast.model.names import did_you_mean, folded
from wherecast.model.steps import Grid, grid
from wherecast.model.values import (
    ELEMENTS,
    Clock,
    Type,
    ValueProblem,
    canonical,
    describe,
    problem_of,
)

_KINDS: dict[Clock, str] = {"local": "timestamp_ntz", "day": "date"}
_HINTS_MAX = 20  # per publication, since finding the nearest name is costly


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named, typed attribute with its domain, if it declares one.

    Attributes:
        name: dotted if the attribute is nested.
        type: in which values are held and compared.
        min: least value. `min`, `max` and `step` of a decimal are in units.
        max: greatest value.
        step: values are rounded to whole steps.
        values: the values that a string may have.
        scale: 0, or the number of digits after the point of a decimal. The type of a decimal is
            int: its values are whole numbers of units of 10**-scale.
        clock: the meaning of a timestamp: a point in time; a time without a zone, held as if in
            UTC; or a day, held as its first moment.
    """

    name: str
    type: Type
    min: int | float | None = None
    max: int | float | None = None
    step: Decimal | None = None
    values: tuple[str, ...] | None = None
    scale: int = 0
    clock: Clock = "utc"

    @property
    def kind(self) -> str:
        """The type as a schema declares it and a message names it."""
        return "decimal" if self.scale else _KINDS.get(self.clock, self.type)

    @property
    def element(self) -> Type | None:
        """The type of the elements of an array; None for other attributes."""
        return ELEMENTS.get(self.type)

    def element_attribute(self) -> "Attribute":
        """The attribute, under the same name, whose values are the elements of this array."""
        assert self.element is not None
        return Attribute(self.name, self.element)

    def plain(self) -> "Attribute":
        """The same attribute with every value of its type allowed."""
        return Attribute(self.name, self.type, scale=self.scale, clock=self.clock)

    @property
    def has_domain(self) -> bool:
        """Whether not every value of the type is allowed."""
        return (self.min, self.max, self.step, self.values) != (None, None, None, None)

    @property
    def grid(self) -> Grid | None:
        """The grid of whole steps, where a step is declared."""
        return None if self.step is None else grid(self.min, self.step, self.type == "int")

    def to_dict(self) -> dict[str, Any] | str:
        """The attribute as a schema file writes it."""
        fields: dict[str, Any] = {"type": self.kind}
        if self.scale:
            fields["scale"] = self.scale
        for name in ("min", "max", "step"):
            value = getattr(self, name)
            if value is not None:
                fields[name] = self._written(value)
        if self.values is not None:
            fields["values"] = list(self.values)
        return self.kind if len(fields) == 1 else fields

    def _written(self, value: float | Decimal) -> float | str:
        """A bound or a step; that of a decimal is a string where no double is exact."""
        if not self.scale:
            return int(value) if self.type == "int" else float(value)
        number = decimal_of(int(value), self.scale)
        double = float(number)
        return double if Decimal(repr(double)) == number else str(number)


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream.

    Attributes:
        attributes: the declared attributes, in order.
        open: whether undeclared attributes are accepted too.
        unsupported: columns that filters cannot name, with their types.
    """

    attributes: tuple[Attribute, ...]
    open: bool = False
    unsupported: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def load(path: str | Path) -> "Schema":
        """The schema in a `.toml` or `.attributes` file, by suffix."""
        from wherecast.model.schema_files import load

        return load(Path(path))

    @staticmethod
    def from_dict(attributes: Mapping[str, Any], open: bool = False) -> "Schema":
        """The schema of a mapping from attribute name to type, or to type and domain."""
        from wherecast.model.schema_files import from_dict

        return from_dict(attributes, open)

    @staticmethod
    def from_json(text: str) -> "Schema":
        """The schema of what `to_json` wrote."""
        given = json.loads(text)
        return Schema.from_dict(given["attributes"], given["open"])

    @staticmethod
    def from_toml(text: str) -> "Schema":
        """The schema in the text of a TOML file."""
        from wherecast.model.schema_files import from_toml

        return from_toml(text)

    @staticmethod
    def from_attributes(text: str) -> "Schema":
        """The schema in the text of an `.attributes` file."""
        from wherecast.model.schema_files import from_attributes

        return from_attributes(text)

    @staticmethod
    def from_arrow(schema: Any) -> "Schema":
        """The schema of an Arrow schema; struct fields get dotted names."""
        from wherecast.model.schema_columns import from_arrow

        return from_arrow(schema)

    @staticmethod
    def from_spark(schema: Any) -> "Schema":
        """The schema of a Spark `StructType`; struct fields get dotted names."""
        from wherecast.model.schema_columns import from_spark

        return from_spark(schema)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The declared names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    @cached_property
    def _by_fold(self) -> dict[str, str | None]:
        return folded(self.names)

    @cached_property
    def _records(self) -> frozenset[str]:
        """The case-folded names of the records that hold declared attributes."""
        parts = [name.split(".") for name in self.names if "." in name]
        return frozenset(".".join(p[:end]).casefold() for p in parts for end in range(1, len(p)))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The place of each declared name in the order of the schema."""
        return {name: place for place, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def find(self, name: str) -> Attribute | None:
        """The attribute of that name: by exact case, else by any case where that is unique."""
        found = self._by_name.get(name)
        if found is None:
            other = self._by_fold.get(name.casefold())
            found = None if other is None else self._by_name[other]
        return found

    def unsupported_type(self, name: str) -> str | None:
        """The type of a column that filters cannot name, found as `find` finds attributes."""
        exact = self.unsupported.get(name)
        if exact is not None:
            return exact
        other = folded(self.unsupported).get(name.casefold())
        return None if other is None else self.unsupported[other]

    def hint(self, name: str) -> str | None:
        """A hint that names the attribute nearest to an unknown name, or None."""
        return did_you_mean(name, self.names)

    def without_domains(self) -> "Schema":
        """The same attributes with every value of their types allowed."""
        plain = tuple(attribute.plain() for attribute in self.attributes)
        return Schema(plain, self.open, self.unsupported)

    def to_dict(self) -> dict[str, Any]:
        """The attributes as `from_dict` reads them."""
        return {attribute.name: attribute.to_dict() for attribute in self.attributes}

    def to_json(self) -> str:
        """The schema as text: its attributes, and whether it is open."""
        given = {"open": self.open, "attributes": self.to_dict()}
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"))

    def read(
        self, publication: Mapping[str, Any], limits: Limits = DEFAULT_LIMITS
    ) -> dict[str, Any]:
        """The canonical row of one publication; missing and null attributes are left out.

        Each value is a `Value`. That of an array is a tuple of values, None for a null element.

        Raises:
            PublicationError: with every problem, each naming its attribute.
        """
        problems: list[Problem] = []
        row: dict[str, Any] = {}
        given = list(_leaves(publication, "", 1, limits, problems))
        if len(given) > limits.publication_attributes_max:
            limit = limits.publication_attributes_max
            raise PublicationError(
                [Problem("too_many_attributes", f"{len(given)} attributes, the limit is {limit}")]
            )
        seen: set[str] = set()
        for path, value in given:
            self._read_one(path, value, row, seen, problems, limits)
        if problems:
            raise PublicationError(problems)
        return row

    def _read_one(
        self,
        path: str,
        value: object,
        row: dict[str, Any],
        seen: set[str],
        problems: list[Problem],
        limits: Limits,
    ) -> None:
        """Adds one attribute to the row, or a problem to the list."""
        attribute = self.find(path) or (self.undeclared(path, value) if self.open else None)
        name = path if attribute is None else attribute.name
        if name in seen:
            problems.append(Problem("conflict", f"attribute {name} is given twice", name))
        elif attribute is None and not (value is None and self._may_be_null(path)):
            hint = self.hint(path) if len(problems) < _HINTS_MAX else None
            text = f"unknown attribute {path}" + (f"; {hint}" if hint else "")
            problems.append(Problem("unknown_attribute", text, path))
        elif attribute is not None and value is not None:
            try:
                if attribute.element is None:
                    row[name] = canonical(attribute, value)
                else:
                    row[name] = canonical_array(attribute, value, limits.array_elements_max)
            except ValueProblem as problem:
                problems.append(problem_of(name, problem))
        seen.add(name)

    def _may_be_null(self, path: str) -> bool:
        """Whether a null under that name says only that something is missing."""
        return self.open or path.casefold() in self._records

    def undeclared(self, name: str, value: object) -> Attribute | None:
        """The attribute that an open schema makes of an undeclared value: float, string or bool."""
        if value is None:
            return None
        if isinstance(value, bool):
            return Attribute(name, "bool")
        if isinstance(value, str):
            return Attribute(name, "string")
        return Attribute(name, "float")  # refused by its reader where it is no number


def _leaves(
    record: Mapping[str, Any], prefix: str, depth: int, limits: Limits, problems: list[Problem]
) -> Iterator[tuple[str, object]]:
    """The values of a nested record with their dotted names."""
    for key, value in record.items():
        if not isinstance(key, str):
            problems.append(
                Problem("malformed", f"attribute names are strings, not {describe(key)}")
            )
        elif isinstance(value, Mapping):
            if depth >= limits.json_depth_max:
                text = f"attribute {prefix}{key} is nested deeper than {limits.json_depth_max}"
                problems.append(Problem("too_deep", text, f"{prefix}{key}"))
            else:
                yield from _leaves(value, f"{prefix}{key}.", depth + 1, limits, problems)
        else:
            yield prefix + key, value
