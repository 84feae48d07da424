"""What a function is: the types that it takes and gives, and its meaning on single values.

A function that Spark would fail on, such as a division by zero or an overflow, gives None here, as
Spark's `try_` functions do.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wherecast.language.meaning.value_types import ArgumentProblem, ValueType

Types = list[ValueType]


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of a call: what its arguments are converted to, and what it gives."""

    arguments: tuple[ValueType, ...]
    result: ValueType


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language.

    Attributes:
        least: smallest number of arguments.
        most: greatest number of arguments; None where any number is fine.
        resolve: the signature for given types of arguments.
        apply: the value for a result type and arguments; None stands for NULL.
        takes_null: whether `apply` is called where an argument is None; otherwise None is given.
        sees_constants: whether `resolve` also takes the values of constant arguments, with None for
            any other argument: the digits of a decimal result may depend on them.
        error: the reason of `row_errors` that `apply` gives None for where all arguments are there;
            None where such a result is no error, or `apply` counts by itself. A division that has a
            divisor overflows.
    """

    least: int
    most: int | None
    resolve: Callable[..., Signature]
    apply: Callable[..., Any]
    takes_null: bool = False
    sees_constants: bool = False
    error: str | None = None


def fixed(arguments: Sequence[ValueType], result: ValueType) -> Callable[[Types], Signature]:
    """Resolves a function that takes just these types; optional arguments may be left out."""

    def resolve(types: Types) -> Signature:
        for place, (given, wanted) in enumerate(zip(types, arguments, strict=False)):
            if given.kind not in (wanted.kind, "null"):
                raise ArgumentProblem(place, str(wanted), given)
        return Signature(tuple(arguments[: len(types)]), result)

    return resolve
