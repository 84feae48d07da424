"""The error tree, split by who must act.

    WherecastError
    ├── SchemaError           whoever wrote the schema
    ├── FilterError           whoever wrote the filter
    ├── PublicationError      whoever sent the publication
    ├── AcknowledgementError  whoever acknowledged
    ├── ConfigError           whoever runs or calls Wherecast
    ├── ConflictError         whoever changed what another one changed meanwhile
    ├── SnapshotError         whoever keeps the file of an index
    └── StoreError            whoever keeps the directory of a store

Errors carry fields; their text is made from the fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wherecast.model.excerpts import excerpt


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        code: a stable word for programs.
        message: a sentence.
        attribute: the attribute that the problem is about, if it is about one.
        element: the place of the wrong element of an array, from 0.
    """

    code: str
    message: str
    attribute: str | None = None
    element: int | None = None


class WherecastError(Exception):
    """The root of every error that Wherecast raises on purpose."""


class _ProblemsError(WherecastError):
    """An error that lists every problem at once."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = (Problem("malformed", problems),)
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "; ".join(problem.message for problem in self.problems)


class SchemaError(_ProblemsError):
    """A schema that cannot be used; `problems` has all that is wrong with it."""


class PublicationError(_ProblemsError):
    """A publication that its schema refuses; `problems` has all that is wrong with it."""


class FilterError(WherecastError):
    """A filter that cannot be accepted.

    Attributes:
        message: what is wrong.
        position: where in the text, counted in characters from 0, if known.
        hint: what to write instead, if something is close.
        code: a stable word for programs.
        text: the text of the filter, if known; then `str` shows a caret under the place.
        others: further problems of the same text that were found together with this one.
    """

    def __init__(
        self,
        message: str,
        position: int | None = None,
        hint: str | None = None,
        code: str = "bad_filter",
    ) -> None:
        self.message = message
        self.position = position
        self.hint = hint
        self.code = code
        self.text: str | None = None
        self.others: tuple[FilterError, ...] = ()
        super().__init__(message, position, hint, code)

    def found_in(self, text: str | None) -> "FilterError":
        """This error, with the text that it and the others were found in."""
        for error in (self, *self.others):
            error.text = text
        return self

    @property
    def line(self) -> str:
        """The message with its place and hint, in one line."""
        place = "" if self.position is None else f" (at position {self.position})"
        hint = "" if self.hint is None else f"; {self.hint}"
        return f"{self.message}{place}{hint}"

    def __str__(self) -> str:
        """The line of this error and of the others, each with a caret under its place."""
        lines: list[str] = []
        for error in (self, *self.others):
            lines.append(error.line)
            if error.text and error.position is not None:
                lines += (f"  {shown}" for shown in excerpt(error.text, error.position))
        return "\n".join(lines)


class AcknowledgementError(WherecastError):
    """An acknowledgement that cannot be accepted; nothing was acknowledged.

    Attributes:
        message: what is wrong.
        cursor: the notification that it is about, if it is one.
        code: a stable word for programs.
    """

    def __init__(
        self, message: str, cursor: str | None = None, code: str = "bad_acknowledgement"
    ) -> None:
        self.message = message
        self.cursor = cursor
        self.code = code
        super().__init__(message, cursor, code)

    def __str__(self) -> str:
        return self.message


class ConfigError(WherecastError):
    """A setting, an argument or an installation that cannot work."""


class ConflictError(WherecastError):
    """A change that was not made, since another one came first; it can be tried again."""


class SnapshotError(WherecastError):
    """The file of an index that is missing, damaged, or written by a newer version."""


class StoreError(WherecastError):
    """A store that is damaged, full, in use, or written by a newer version."""


def reason_of(error: Exception) -> str:
    """The reason of an error in one line: as the operating system says it, else its first line.

    An error without a text is named by its type.
    """
    text = getattr(error, "strerror", None) or str(error)
    return next(iter(str(text).splitlines()), "") or type(error).__name__
